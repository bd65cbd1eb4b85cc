/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis: the protocol of Redis, as bytes: commands out, answers in. No connection, no meaning.
 *
 * Only what is asked for here can be read: texts, numbers, errors and arrays of these, no long
 * answers. An array comes as its length and then, one by one, its elements: whatever length it
 * claims to have costs nothing.
 */
#ifndef WAKEGATE_STORE_REDIS_H
#define WAKEGATE_STORE_REDIS_H

#include "gateway/core/buf.h"
#include "gateway/core/err.h"

enum {
    REDIS_WORDS = 96,
    REDIS_KEYS = 6,
    REDIS_NUMBERS = 6,
    REDIS_NUMBER_SIZE = 24,
    REDIS_REPLY_BYTES = 1024 * 1024 + 65536 /* of one text */
};

/* One command, which is built word by word. The words are borrowed. */
struct redis_command {
    int count;
    const char *words[REDIS_WORDS];
    size_t lens[REDIS_WORDS];
    struct buf
        keys[REDIS_KEYS]; /* room for words that are made on the way, kept between commands */
    char numbers[REDIS_NUMBERS][REDIS_NUMBER_SIZE];
    int number_count;
};

void redis_command_init(struct redis_command *command);
void redis_command_release(struct redis_command *command);

void redis_command_start(struct redis_command *command, const char *name);
void redis_command_add(struct redis_command *command, struct slice word);
void redis_command_add_number(struct redis_command *command, int64_t number);
/* false: it does not fit into `out` any more. */
bool redis_command_write(const struct redis_command *command, struct buf *out);

enum redis_kind { REDIS_INCOMPLETE, REDIS_TEXT, REDIS_ERROR, REDIS_ARRAY, REDIS_OTHER };

struct redis_reply {
    enum redis_kind kind;
    struct slice text; /* borrowed until the next call with that reader */
    uint64_t count;    /* array: how many elements follow; none and empty are both 0 */
};

struct redis_reader;
struct redis_reader *redis_reader_new(void);
void redis_reader_free(struct redis_reader *reader);

void redis_reader_feed(struct redis_reader *reader, struct slice bytes);
/* false: these bytes are no answer, and nothing after them can be read. */
bool redis_reader_next(struct redis_reader *reader, struct redis_reply *reply, struct err *err);

#endif
