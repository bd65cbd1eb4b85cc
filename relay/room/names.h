/* SPDX-License-Identifier: Apache-2.0 */
/* names: a list of strings in the config of the rooms: threads, patterns of threads, origins. */
#ifndef WAKEGATE_RELAY_ROOM_NAMES_H
#define WAKEGATE_RELAY_ROOM_NAMES_H

#include "gateway/core/settings.h"

struct names {
    char **list; /* owned; NULL-terminated unless it is NULL itself */
    size_t count;
};

/* Reads the array at `key`: at most `most` strings, each checked. Mistakes go to the report, and
 * what is wrong is left out; an absent key gives none. */
void names_read(struct settings *settings, const char *key, size_t most,
                bool (*check)(struct slice name, struct err *err), struct names *names);
void names_release(struct names *names);
bool names_have(const struct names *names, struct slice name);

/* A thread's name: 1 to LIMIT_NAME_BYTES letters, digits and "-_.:/@". */
bool names_is_thread(struct slice name, struct err *err);
/* A thread's name, or the beginning of some (perhaps nothing) and "*". */
bool names_is_pattern(struct slice name, struct err *err);
bool names_pattern_fits(struct slice pattern, struct slice thread);

#endif
