/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/store/redis_about.h"

#include <stdio.h>

#include "gateway/core/clock.h"
#include "gateway/store/redis_info.h"
#include "gateway/store/redis_store.h"

static void write_info(const struct store_task *task, struct redis_command *command,
                       const char *sha)
{
    (void)task;
    (void)sha;
    redis_command_start(command, "INFO");
}

static enum redis_taken take_info(struct store_task *task, const struct redis_reply *reply)
{
    struct redis_about *about = task->of;

    if (reply->kind == REDIS_ARRAY)
        return REDIS_ODD;
    if (reply->kind != REDIS_TEXT)
        return REDIS_TAKEN; /* refused */
    struct slice version = redis_info_field(reply->text, "redis_version");
    about->told = true;
    if (slice_is_visible(version) && version.len < sizeof(about->version))
        snprintf(about->version, sizeof(about->version), "%.*s", SLICE_ARG(version));
    about->no_append_file = slice_eq(redis_info_field(reply->text, "aof_enabled"), SLICE("0"));
    return REDIS_TAKEN;
}

static void end_info(struct store_task *task, enum store_answer how, const struct err *why)
{
    (void)task; /* what was not told is not known */
    (void)how;
    (void)why;
}

static void write_time(const struct store_task *task, struct redis_command *command,
                       const char *sha)
{
    struct redis_about *about = task->of;

    (void)sha;
    about->asked_ms = clock_wall_ms();
    redis_command_start(command, "TIME");
}

/* Seconds, then microseconds. */
static enum redis_taken take_time(struct store_task *task, const struct redis_reply *reply)
{
    struct redis_about *about = task->of;
    uint64_t number = 0;

    about->answered_ms = clock_wall_ms();
    if (reply->kind == REDIS_ERROR && about->elements == 0)
        return REDIS_TAKEN; /* refused */
    if (about->elements++ == 0)
        return reply->kind == REDIS_ARRAY && reply->count == 2 ? REDIS_MORE : REDIS_ODD;
    if (reply->kind != REDIS_TEXT || !slice_number(reply->text, &number) ||
        number > INT64_MAX / 1000)
        return REDIS_ODD;
    about->clock_ms += (int64_t)(about->elements == 2 ? number * 1000 : number / 1000);
    return about->elements == 2 ? REDIS_MORE : REDIS_TAKEN;
}

/* The last of the two to be answered. */
static void end_time(struct store_task *task, enum store_answer how, const struct err *why)
{
    struct redis_about *about = task->of;

    (void)why;
    if (how != STORE_OK)
        about->clock_ms = 0;
    op_finish(&about->op, about->turn);
}

static const struct redis_work info_work = {
    .write = write_info, .take = take_info, .end = end_info, .takes_errors = true};
static const struct redis_work time_work = {
    .write = write_time, .take = take_time, .end = end_time, .takes_errors = true};

void redis_about_ask(struct store *store, struct turn *turn, struct redis_about *about,
                     void (*done)(struct op *op))
{
    struct redis_link *link = redis_store_link(store);

    *about = (struct redis_about){
        .turn = turn,
        .info = {.work.redis = &info_work, .script = REDIS_NO_SCRIPT},
        .time = {.work.redis = &time_work, .script = REDIS_NO_SCRIPT},
    };
    about->info.of = about->time.of = about;
    op_begin(&about->op, done);
    redis_link_send(link, &about->info);
    redis_link_send(link, &about->time);
}
