/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel: a connected socket, plain or under TLS, that is written to and read from until the other
 * side closes. It blocks. The certificate is not verified, as by the probes of Kubernetes: it names
 * the gateway as clients reach it, not 127.0.0.1. So nothing secret may be said over TLS here.
 */
#ifndef WAKEGATE_GATEWAY_CLI_CHANNEL_H
#define WAKEGATE_GATEWAY_CLI_CHANNEL_H

#include <sys/types.h>

#include "gateway/core/err.h"
#include "gateway/net/tls.h"

struct channel {
    int fd;          /* the caller's to open, channel_close's to close */
    struct tls *tls; /* NULL: plain */
};

/* Shakes hands. */
bool channel_secure(struct channel *channel, struct err *err);
bool channel_send(const struct channel *channel, struct slice bytes);
/* 0: the other side has said everything; below 0: not in time. */
ssize_t channel_hear(const struct channel *channel, char *bytes, size_t size);
void channel_close(struct channel *channel);

#endif
