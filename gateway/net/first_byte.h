/* SPDX-License-Identifier: Apache-2.0 */
/* first_byte: did anything ever come in on this connection? */
#ifndef WAKEGATE_NET_FIRST_BYTE_H
#define WAKEGATE_NET_FIRST_BYTE_H

#include <stdbool.h>

/* Bytes that were read already count too. true where the system cannot tell (no TCP socket). */
bool first_byte_came(int fd);

#endif
