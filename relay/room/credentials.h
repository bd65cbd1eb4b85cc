/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credentials: who may come into the rooms, into which threads, and what for.
 *
 * A client shows its token in the CONNECT payload, {"token": "..."}, or in `Authorization: Bearer`
 * of the handshake. Only digests of tokens are kept, and all of them are compared every time, in
 * constant time. Who shows no token at all is anonymous, where that is configured; a wrong token is
 * never taken for none.
 */
#ifndef WAKEGATE_RELAY_ROOM_CREDENTIALS_H
#define WAKEGATE_RELAY_ROOM_CREDENTIALS_H

#include "gateway/core/digest.h"
#include "gateway/core/request.h"
#include "relay/room/names.h"

enum { CREDENTIALS_MAX = 256, CREDENTIAL_PATTERNS = 64 };

enum right { RIGHT_READ = 1, RIGHT_ANSWER = 2, RIGHT_CANCEL = 4, RIGHT_START = 8 };

struct credential {
    char *client; /* owned; the name under which this client is told to others */
    unsigned rights;
    struct names threads; /* patterns */
    unsigned char digest[DIGEST_BYTES];
    bool anonymous;
};

struct credentials {
    struct credential *list; /* owned */
    size_t count;
};

/* Reads `tokens` and `anonymous` of the rooms' settings. Mistakes go to the report. */
void credentials_read(struct settings *settings, struct credentials *credentials);
void credentials_release(struct credentials *credentials);

/* Whose connection this is; NULL: nobody's, with the reason. `auth` may be NULL. */
const struct credential *credentials_find(const struct credentials *credentials, const json_t *auth,
                                          const struct request *handshake, struct err *why);
/* The same token's, or the anonymous one's, in a list read later; NULL: it is gone. */
const struct credential *credentials_again(const struct credentials *later,
                                           const struct credential *credential);

bool credential_allows(const struct credential *credential, struct slice thread);

#endif
