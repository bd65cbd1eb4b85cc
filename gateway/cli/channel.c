/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/cli/channel.h"

#include <sys/socket.h>
#include <unistd.h>

enum { PIECE_BYTES = 4096 };

static bool send_all(int fd, struct slice bytes)
{
    ssize_t sent = send(fd, bytes.data, bytes.len, MSG_NOSIGNAL);

    return sent >= 0 && (size_t)sent == bytes.len;
}

static bool flush(const struct channel *channel)
{
    struct slice output = tls_output(channel->tls);
    bool sent = send_all(channel->fd, output);

    tls_taken(channel->tls, output.len);
    return sent;
}

static ssize_t feed(const struct channel *channel)
{
    char bytes[PIECE_BYTES];
    ssize_t len = recv(channel->fd, bytes, sizeof(bytes), 0);

    if (len > 0)
        tls_feed(channel->tls, (struct slice){.data = bytes, .len = (size_t)len});
    return len;
}

bool channel_secure(struct channel *channel, struct err *err)
{
    enum tls_answer answer = TLS_MORE;
    struct err why = {"the handshake broke off"};

    channel->tls = tls_probe_new();
    while (answer == TLS_MORE) {
        answer = tls_shake(channel->tls, &why);
        if (!flush(channel) || (answer == TLS_MORE && feed(channel) <= 0))
            answer = TLS_ENDED;
    }
    return answer == TLS_DONE || err_set(err, "no TLS there: %s", why.text);
}

bool channel_send(const struct channel *channel, struct slice bytes)
{
    struct err err;

    if (!channel->tls)
        return send_all(channel->fd, bytes);
    return tls_write(channel->tls, bytes, &err) && flush(channel);
}

ssize_t channel_hear(const struct channel *channel, char *bytes, size_t size)
{
    struct err err;
    size_t len = 0;

    if (!channel->tls)
        return recv(channel->fd, bytes, size, 0);
    for (;;) {
        enum tls_answer answer = tls_read(channel->tls, bytes, size, &len, &err);
        if (answer == TLS_DONE)
            return (ssize_t)len;
        ssize_t fed = answer == TLS_MORE ? feed(channel) : 0;
        if (fed <= 0)
            return fed;
    }
}

void channel_close(struct channel *channel)
{
    tls_free(channel->tls);
    close(channel->fd);
}
