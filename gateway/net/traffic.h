/* SPDX-License-Identifier: Apache-2.0 */
/* traffic: how many bytes a connection took in and gave out, read or not, as the system counts. */
#ifndef WAKEGATE_NET_TRAFFIC_H
#define WAKEGATE_NET_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

struct traffic {
    uint64_t in, out; /* out: an end of stream counts as one byte */
};

/* false: the system cannot tell (no TCP socket). */
bool traffic_of(int fd, struct traffic *traffic);

#endif
