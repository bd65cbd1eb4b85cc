/* SPDX-License-Identifier: Apache-2.0 */
/* received: how much came in on a connection? */
#ifndef WAKEGATE_NET_RECEIVED_H
#define WAKEGATE_NET_RECEIVED_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes that were read already count too. false where the system cannot tell (no TCP socket). */
bool received_bytes(int fd, uint64_t *bytes);

#endif
