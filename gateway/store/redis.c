/* SPDX-License-Identifier: Apache-2.0 */
/* The only file that knows hiredis. Its formatter and its reader are used, not its connections,
 * which in Debian 12 know neither TLS nor time-outs. */
#include "gateway/store/redis.h"
#include "gateway/store/store.h"

#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- commands --- */

void redis_command_init(struct redis_command *command)
{
    *command = (struct redis_command){0};
    for (int i = 0; i < REDIS_KEYS; i++)
        command->keys[i].max = SIZE_MAX / 4;
}

void redis_command_release(struct redis_command *command)
{
    for (int i = 0; i < REDIS_KEYS; i++)
        buf_release(&command->keys[i]);
}

void redis_command_start(struct redis_command *command, const char *name)
{
    command->count = 0;
    command->number_count = 0;
    redis_command_add(command, slice_from(name));
}

void redis_command_add(struct redis_command *command, struct slice word)
{
    command->words[command->count] = word.data;
    command->lens[command->count] = word.len;
    command->count++;
}

void redis_command_add_number(struct redis_command *command, int64_t number)
{
    char *text = command->numbers[command->number_count++];
    int len = snprintf(text, REDIS_NUMBER_SIZE, "%" PRId64, number);

    redis_command_add(command, (struct slice){.data = text, .len = (size_t)len});
}

bool redis_command_write(const struct redis_command *command, struct buf *out)
{
    char *bytes = NULL;
    const char **words = (const char **)(uintptr_t)command->words;
    long long len = redisFormatCommandArgv(&bytes, command->count, words, command->lens);

    if (len < 0)
        abort(); /* out of memory */
    bool ok = buf_append(out, (struct slice){.data = bytes, .len = (size_t)len});
    redisFreeCommand(bytes);
    return ok;
}

/* --- answers --- */

enum { ARRAY_HEAD_BYTES = 24 };

struct redis_reader {
    redisReader *reader;
    redisReply *last; /* NULL: none */
};

struct redis_reader *redis_reader_new(void)
{
    struct redis_reader *reader = mem_new(sizeof(*reader));

    reader->reader = redisReaderCreate();
    if (!reader->reader)
        abort(); /* out of memory */
    return reader;
}

static void free_last(struct redis_reader *reader)
{
    if (reader->last)
        freeReplyObject(reader->last);
    reader->last = NULL;
}

void redis_reader_free(struct redis_reader *reader)
{
    if (!reader)
        return;
    free_last(reader);
    redisReaderFree(reader->reader);
    free(reader);
}

void redis_reader_feed(struct redis_reader *reader, struct slice bytes)
{
    redisReaderFeed(reader->reader, bytes.data, bytes.len);
}

/* The head of an array is read past the library, which would make room at once for as many elements
 * as one claims to have. */
static bool take_array(redisReader *reader, struct redis_reply *reply, struct err *err)
{
    struct slice bytes = {.data = reader->buf + reader->pos, .len = reader->len - reader->pos};
    struct slice line, rest;

    bool whole = slice_cut(slice_first(bytes, ARRAY_HEAD_BYTES), '\n', &line, &rest);
    if (!whole && bytes.len < ARRAY_HEAD_BYTES)
        return true;
    struct slice number = slice_ends(line, SLICE("\r")) ? slice_first(line, line.len - 1) : line;
    number = slice_from_at(number, 1);
    bool none = slice_eq(number, SLICE("-1"));
    if (!whole || (!none && !slice_number(number, &reply->count)))
        return err_set(err, "an array whose length is none");
    reader->pos += line.len + 1;
    reply->kind = REDIS_ARRAY;
    return true;
}

static struct redis_reply describe(const redisReply *reply)
{
    struct redis_reply described = {.kind = REDIS_OTHER};

    if (!reply)
        described.kind = REDIS_INCOMPLETE;
    else if (reply->type == REDIS_REPLY_ERROR)
        described.kind = REDIS_ERROR;
    else if (reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS)
        described.kind = REDIS_TEXT;
    if (described.kind == REDIS_ERROR || described.kind == REDIS_TEXT)
        described.text = (struct slice){.data = reply->str, .len = (size_t)reply->len};
    return described;
}

bool redis_reader_next(struct redis_reader *reader, struct redis_reply *reply, struct err *err)
{
    redisReader *inner = reader->reader;
    void *object = NULL;

    free_last(reader);
    bool at_start = inner->ridx == -1;
    *reply = (struct redis_reply){.kind = REDIS_INCOMPLETE};
    if (at_start && inner->pos == inner->len)
        return true; /* the library would begin, and take an array for one of its own */
    if (at_start && inner->buf[inner->pos] == '*')
        return take_array(inner, reply, err);
    if (at_start && !memchr("+-:$", inner->buf[inner->pos], 4))
        return err_set(err, "an answer of a kind that was not asked for: is this a Redis?");
    if (redisReaderGetReply(inner, &object) != REDIS_OK)
        return err_set(err, "an answer that is none: %s", inner->errstr);
    if (!object && inner->len - inner->pos > REDIS_REPLY_BYTES)
        return err_set(err, "an answer of more than %d bytes", REDIS_REPLY_BYTES);
    reader->last = object;
    *reply = describe(reader->last);
    return true;
}

#define TEXT_OF(number)             #number
#define DOTTED(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *store_redis_library(void)
{
    return DOTTED(HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
}
