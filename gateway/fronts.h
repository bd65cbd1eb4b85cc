/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fronts: where the gateway listens, and what is served where: wakes and rooms at the addresses of
 * `listen`, what is for operators at `admin`, or there too where no such address is given.
 */
#ifndef WAKEGATE_GATEWAY_FRONTS_H
#define WAKEGATE_GATEWAY_FRONTS_H

#include "gateway/config.h"
#include "gateway/router.h"

struct fronts {
    struct router router, admin_router;
    struct front *front, *admin; /* `admin` NULL: it has no address of its own */

    unsigned parts; /* not closed yet */
    void (*closed)(void *context);
    void *context;
};

/* Takes the addresses, and accepts nobody yet. `served` says what there is to serve. false: it is
 * logged why. */
bool fronts_open(struct fronts *fronts, const struct config *config, const struct router *served,
                 struct turn *turn);
void fronts_accept(struct fronts *fronts); /* and logs where */

/* For wakes and rooms: see front_drain. Operators are served until the end. */
void fronts_drain(struct fronts *fronts);
/* No exchange may be parked. */
void fronts_close(struct fronts *fronts, void (*closed)(void *context), void *context);

#endif
