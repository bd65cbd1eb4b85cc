/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/store/redis_greeting.h"

#include <string.h>

static bool is_needed(const struct redis_url *url, int step)
{
    if (step == GREET_AUTH)
        return url->password != NULL;
    if (step == GREET_SELECT)
        return url->db != 0;
    if (step >= GREET_SCRIPTS && step < GREET_INFO)
        return redis_script_text(step - GREET_SCRIPTS) != NULL;
    return true;
}

enum redis_greeting redis_greeting_from(const struct redis_url *url, int step)
{
    while (!is_needed(url, step))
        step++;
    return (enum redis_greeting)step;
}

static void add_text(struct redis_command *command, const char *word)
{
    redis_command_add(command, slice_from(word));
}

void redis_greeting_command(struct redis_command *command, const struct redis_url *url,
                            enum redis_greeting step)
{
    const struct store_op ping = {.verb = STORE_PING};

    switch (step) {
    case GREET_AUTH:
        redis_command_start(command, "AUTH");
        if (url->user)
            add_text(command, url->user);
        add_text(command, url->password);
        return;
    case GREET_SELECT:
        redis_command_start(command, "SELECT");
        redis_command_add_number(command, (int64_t)url->db);
        return;
    case GREET_INFO:
        redis_command_start(command, "INFO");
        add_text(command, "memory");
        return;
    case GREET_PROBE:
        redis_script_command(command, &ping, NULL, 0);
        return;
    default:
        redis_command_start(command, "SCRIPT");
        add_text(command, "LOAD");
        add_text(command, redis_script_text((int)step - GREET_SCRIPTS));
    }
}

bool redis_greeting_sha(struct slice text, char sha[static REDIS_SHA_SIZE])
{
    if (text.len != REDIS_SHA_SIZE - 1 || !slice_is_visible(text))
        return false;
    memcpy(sha, text.data, text.len);
    sha[text.len] = '\0';
    return true;
}

struct slice redis_greeting_policy(struct slice info)
{
    struct slice line, name, value;

    while (info.len > 0) {
        slice_cut(info, '\n', &line, &info);
        slice_cut(line, ':', &name, &value);
        if (slice_eq(name, SLICE("maxmemory_policy")))
            return slice_ends(value, SLICE("\r")) ? slice_first(value, value.len - 1) : value;
    }
    return (struct slice){0};
}
