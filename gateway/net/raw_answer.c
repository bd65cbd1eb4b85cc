/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/net/raw_answer.h"

#include <sys/socket.h>
#include <time.h>

#include "gateway/core/buf.h"
#include "gateway/core/clock.h"

enum { MOST_BYTES = 8192, DATE_BYTES = 64 };

void raw_switching(struct buf *text, const struct http_field *fields, size_t count)
{
    *text = (struct buf)BUF_INIT(MOST_BYTES);
    buf_append(text, SLICE("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"));
    for (size_t i = 0; i < count; i++)
        buf_appendf(text, "%s: %.*s\r\n", fields[i].name, SLICE_ARG(fields[i].value));
    buf_append(text, SLICE("\r\n"));
}

void raw_answer(int fd, const struct http_answer *answer, const char *reason)
{
    struct buf text = BUF_INIT(MOST_BYTES);
    const time_t now = (time_t)(clock_wall_ms() / 1000);
    char date[DATE_BYTES];
    struct tm parts;

    gmtime_r(&now, &parts);
    strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", &parts);
    buf_appendf(&text, "HTTP/1.1 %u %s\r\nDate: %s\r\nConnection: close\r\nContent-Length: %zu\r\n",
                answer->status, reason, date, answer->body.len);
    if (answer->content_type)
        buf_appendf(&text, "Content-Type: %s\r\n", answer->content_type);
    if (answer->retry_after_s > 0)
        buf_appendf(&text, "Retry-After: %lld\r\n", (long long)answer->retry_after_s);
    buf_append(&text, SLICE("\r\n"));
    buf_append(&text, answer->body);
    if (!text.overflow)
        send(fd, text.data, text.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    buf_release(&text);
}
