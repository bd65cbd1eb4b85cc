/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/net/last_words.h"

#include <sys/socket.h>

#include "gateway/core/buf.h"

enum { MOST_BYTES = 8192 };

void last_words(int fd, const struct http_answer *answer, const char *reason)
{
    struct buf text = BUF_INIT(MOST_BYTES);

    buf_appendf(&text,
                "HTTP/1.1 %u %s\r\nConnection: close\r\nContent-Type: %s\r\n"
                "Content-Length: %zu\r\n\r\n",
                answer->status, reason, answer->content_type, answer->body.len);
    buf_append(&text, answer->body);
    if (!text.overflow)
        send(fd, text.data, text.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    buf_release(&text);
}
