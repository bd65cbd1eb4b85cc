/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/store/redis_greeting.h"

#include <string.h>

#include "gateway/store/redis_fault.h"
#include "gateway/store/redis_info.h"

static bool is_needed(const struct redis_url *url, int step)
{
    if (step == GREET_AUTH)
        return url->login.password != NULL;
    if (step == GREET_ROLE)
        return url->master != NULL;
    if (step == GREET_SELECT)
        return url->db != 0;
    if (step >= GREET_SCRIPTS && step < GREET_PROBE)
        return redis_script_text(step - GREET_SCRIPTS) != NULL;
    return true;
}

/* The first step, from `step` on, that this URL needs. */
static enum redis_step next_from(const struct redis_url *url, int step)
{
    while (!is_needed(url, step))
        step++;
    return (enum redis_step)step;
}

/* --- the questions --- */

static void add_text(struct redis_command *command, const char *word)
{
    redis_command_add(command, slice_from(word));
}

static void build(struct redis_command *command, const struct redis_url *url, enum redis_step step)
{
    const struct store_op ping = {.verb = STORE_PING};

    switch (step) {
    case GREET_AUTH:
        redis_command_start(command, "AUTH");
        if (url->login.user)
            add_text(command, url->login.user);
        add_text(command, url->login.password);
        return;
    case GREET_INFO:
        redis_command_start(command, "INFO");
        return;
    case GREET_ROLE:
        redis_command_start(command, "ROLE");
        return;
    case GREET_SELECT:
        redis_command_start(command, "SELECT");
        redis_command_add_number(command, (int64_t)url->db);
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

void redis_greeting_begin(struct redis_greeting *greeting, const struct redis_url *url,
                          struct buf *out)
{
    struct redis_command command;

    redis_command_init(&command);
    greeting->seen = greeting->left = 0;
    greeting->step = next_from(url, GREET_AUTH);
    for (enum redis_step step = greeting->step; step != GREET_DONE;
         step = next_from(url, (int)step + 1)) {
        build(&command, url, step);
        redis_command_write(&command, out);
    }
    redis_command_release(&command);
}

/* --- the answers --- */

static bool take_sha(struct slice text, char sha[static REDIS_SHA_SIZE], struct err *why)
{
    if (text.len != REDIS_SHA_SIZE - 1 || !slice_is_visible(text))
        return err_set(why, "SCRIPT LOAD was not answered with a digest");
    memcpy(sha, text.data, text.len);
    sha[text.len] = '\0';
    return true;
}

static bool take_text(struct redis_greeting *greeting, struct slice text, struct err *why)
{
    enum redis_step step = greeting->step;

    if (step == GREET_INFO) {
        greeting->warning = redis_info_warning(text);
        return redis_info_fits(text, why);
    }
    if (step >= GREET_SCRIPTS && step < GREET_PROBE)
        return take_sha(text, greeting->shas[step - GREET_SCRIPTS], why);
    return true;
}

/* The role is the first element; how many follow, and what, depends on it. */
static bool take_role(struct redis_greeting *greeting, const struct redis_reply *reply,
                      struct err *why)
{
    bool is_array = reply->kind == REDIS_ARRAY;

    if (greeting->seen == 0 && (!is_array || reply->count == 0))
        return err_set(why, "ROLE was not answered with a role");
    if (greeting->seen == 1 && !slice_eq(reply->text, SLICE("master")))
        return err_set(why, "it is not the master (any more); Sentinel will be asked again");
    if (greeting->seen > 0)
        greeting->left--;
    greeting->left += is_array ? reply->count : 0;
    greeting->seen++;
    return true;
}

static bool take_error(struct redis_greeting *greeting, struct slice words, struct err *why,
                       bool *lasting)
{
    if (greeting->step == GREET_INFO && slice_starts(words, SLICE("NOPERM"))) {
        greeting->warning = redis_info_warning((struct slice){0});
        return true;
    }
    struct redis_fault fault = redis_fault_read(words, greeting->step == GREET_AUTH, why);
    *lasting = fault.lasting;
    return false;
}

static bool take(struct redis_greeting *greeting, const struct redis_reply *reply, struct err *why,
                 bool *lasting)
{
    if (reply->kind == REDIS_ERROR)
        return take_error(greeting, reply->text, why, lasting);
    if (greeting->step == GREET_ROLE)
        return take_role(greeting, reply, why);
    if (reply->kind == REDIS_ARRAY)
        return err_set(why, REDIS_ODD_ANSWER);
    *lasting = true;
    return take_text(greeting, reply->text, why);
}

enum redis_greeted redis_greeting_take(struct redis_greeting *greeting, const struct redis_url *url,
                                       const struct redis_reply *reply, struct err *why,
                                       bool *lasting)
{
    *lasting = false;
    if (!take(greeting, reply, why, lasting))
        return GREETED_BADLY;
    if (greeting->left > 0)
        return GREETED_PARTLY;
    greeting->step = next_from(url, (int)greeting->step + 1);
    return greeting->step == GREET_DONE ? GREETED : GREETED_PARTLY;
}
