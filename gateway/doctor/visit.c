/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/doctor/visit.h"

#include "gateway/core/clock.h"
#include "gateway/core/limits.h"
#include "gateway/core/op.h"
#include "gateway/doctor/doctor.h"

static void ask(struct visit *visit)
{
    struct buf text = BUF_INIT(LIMIT_URL_BYTES + 1024);

    buf_appendf(&text,
                "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: wakegate/" WAKEGATE_VERSION
                "\r\nAccept: */*\r\nConnection: close\r\n\r\n",
                visit->ask, visit->to.name ? visit->to.name : visit->to.host);
    visit->asked_ms = clock_wall_ms();
    stream_write(visit->stream, buf_slice(&text));
    buf_release(&text);
    deadline_set(&visit->deadline, DOCTOR_ANSWER_MS);
}

static void on_opened(void *context)
{
    struct visit *visit = context;

    visit->opened = true;
    if (visit->to.tls)
        visit->certificate_end_ms = stream_certificate_end(visit->stream);
    if (visit->ask)
        ask(visit);
    else
        stream_close(visit->stream);
}

static void on_bytes(void *context, struct slice bytes)
{
    struct visit *visit = context;

    if (visit->answer.len == 0)
        visit->answered_ms = clock_wall_ms();
    buf_append(&visit->answer, slice_first(bytes, visit->answer.max - visit->answer.len));
    if (visit->answer.len == visit->answer.max)
        stream_close(visit->stream);
}

static void on_late(struct deadline *deadline)
{
    struct visit *visit = CONTAINER_OF(deadline, struct visit, deadline);

    visit->late = true;
    stream_close(visit->stream);
}

static void on_deadline_closed(struct deadline *deadline)
{
    struct visit *visit = CONTAINER_OF(deadline, struct visit, deadline);

    visit->done(visit);
}

static void on_closed(void *context, const struct err *why)
{
    struct visit *visit = context;

    visit->why = *why;
    if (visit->late)
        err_set(&visit->why, "no answer in time");
    deadline_close(&visit->deadline, on_deadline_closed);
}

void visit_start(uv_loop_t *loop, struct visit *visit)
{
    static const struct stream_events events = {
        .opened = on_opened, .bytes = on_bytes, .closed = on_closed};

    visit->answer = (struct buf)BUF_INIT(VISIT_ANSWER_BYTES);
    deadline_open(&visit->deadline, loop, on_late);
    visit->stream = stream_connect(loop, &visit->to, DOCTOR_CONNECT_MS, &events, visit);
}
