/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wakegate sink: stands in for a runtime. It proves and reads what arrives in one dialect, prints a
 * line of JSON for each request, and answers as that runtime does, with a run id of its own making.
 * The first line says where it listens. SIGINT and SIGTERM end it; what is still delayed is
 * answered then.
 */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "gateway/cli/cli.h"
#include "gateway/cli/options.h"
#include "gateway/cli/proof_options.h"
#include "gateway/cli/wake_json.h"
#include "gateway/core/buf.h"
#include "gateway/core/clock.h"
#include "gateway/core/codec.h"
#include "gateway/core/deadline.h"
#include "gateway/core/metrics.h"
#include "gateway/net/front.h"

enum {
    TOLERANCE_S = 300,
    CONNECTIONS = 1000,
    HEAD_MS = 10000,
    BODY_MS = 10000,
    IDLE_MS = 75000,
    MOST_DELAY_MS = 3600000,
    RUN_BYTES = 8
};

struct sink {
    const struct dialect *dialect;
    struct secret secret;
    struct keyring keyring;
    long long status; /* answered to genuine wakes; 0: the dialect's */
    long long delay_ms;
    uv_loop_t loop;
    struct turn turn;
    struct front *front;
    struct delayed *delayed;
    uv_signal_t interrupt, terminate;
};

struct delayed { /* one answer that is still to come */
    struct sink *sink;
    struct delayed *next, *before;
    struct exchange *exchange;
    struct deadline deadline;
    unsigned status;
    char *body; /* owned */
};

static void answer_json(struct exchange *exchange, unsigned status, const char *body)
{
    const struct http_answer answer = {.status = status,
                                       .content_type = "application/json",
                                       .allow = status == 405 ? "POST" : NULL,
                                       .body = slice_from(body)};

    exchange_answer(exchange, &answer);
}

static void print_line(json_t *line)
{
    json_dumpf(line, stdout, JSON_COMPACT);
    printf("\n");
    fflush(stdout);
    json_decref(line);
}

static json_t *new_line(const struct exchange *exchange, unsigned status)
{
    json_t *line = json_object();
    json_t *path = json_stringn(exchange->path.data, exchange->path.len);

    json_object_set_new(line, "path", path ? path : json_string("(not UTF-8)"));
    json_object_set_new(line, "answered", json_integer(status));
    return line;
}

/* Error bodies have one shape in every dialect: no runtime's meaning hangs on theirs. */
static char *error_body(const char *type, const char *message)
{
    json_t *body = json_pack("{s:s, s:{s:s, s:s}}", "type", "error", "error", "type", type,
                             "message", message);
    char *text = json_dumps(body, JSON_COMPACT);

    json_decref(body);
    return text;
}

static void refuse(const struct sink *sink, struct exchange *exchange, unsigned status,
                   const char *type, const char *why)
{
    char *body = error_body(type, why);
    json_t *line = new_line(exchange, status);

    json_object_set_new(line, "why", json_string(why));
    json_object_set_new(line, "expected",
                        json_sprintf("a wake in the dialect %s", sink->dialect->name));
    print_line(line);
    answer_json(exchange, status, body);
    free(body);
}

static void on_head(void *context, struct exchange *exchange)
{
    (void)context;
    exchange->max_body = LIMIT_OUT_BODY_BYTES;
    if (!slice_eq(exchange->method, SLICE("POST")))
        answer_json(exchange, 405, "{\"error\":\"only POST wakes\"}");
}

static void on_fault(void *context, struct exchange *exchange, enum http_fault fault)
{
    static const unsigned statuses[] = {
        [FAULT_BAD_REQUEST] = 400, [FAULT_TOO_LARGE] = 413,        [FAULT_NO_LENGTH] = 411,
        [FAULT_EXPECTATION] = 417, [FAULT_TOO_MANY_HEADERS] = 431, [FAULT_NO_ROOM] = 503};

    (void)context;
    answer_json(exchange, statuses[fault], "{\"error\":\"not a request that can be read\"}");
}

static void on_delayed_closed(struct deadline *deadline)
{
    struct delayed *delayed = CONTAINER_OF(deadline, struct delayed, deadline);

    free(delayed->body);
    free(delayed);
}

static void answer_delayed(struct delayed *delayed)
{
    if (delayed->before)
        delayed->before->next = delayed->next;
    else
        delayed->sink->delayed = delayed->next;
    if (delayed->next)
        delayed->next->before = delayed->before;
    answer_json(delayed->exchange, delayed->status, delayed->body);
    deadline_close(&delayed->deadline, on_delayed_closed);
}

static void on_delay_over(struct deadline *deadline)
{
    answer_delayed(CONTAINER_OF(deadline, struct delayed, deadline));
}

static void delay(struct sink *sink, struct exchange *exchange, unsigned status, char *body)
{
    struct delayed *delayed = mem_new(sizeof(*delayed));

    *delayed = (struct delayed){
        .sink = sink, .next = sink->delayed, .exchange = exchange, .status = status, .body = body};
    if (delayed->next)
        delayed->next->before = delayed;
    sink->delayed = delayed;
    deadline_open(&delayed->deadline, &sink->loop, on_delay_over);
    deadline_set(&delayed->deadline, (uint64_t)sink->delay_ms);
}

static char *accepted_body(const struct dialect *dialect, const char *run)
{
    const char *form = dialect->accepted_body;
    struct slice before, after;
    struct buf body = BUF_INIT(4096);

    slice_cut(slice_from(form), '%', &before, &after); /* "%s" is the one there */
    buf_append(&body, before);
    buf_append(&body, slice_from(run));
    buf_append(&body, slice_from_at(after, 1));
    return body.data;
}

static void take(struct sink *sink, struct exchange *exchange, const struct wake *wake)
{
    unsigned char bytes[RUN_BYTES];
    char run[2 * RUN_BYTES + 5] = "run_";
    bool accepted = sink->status == 0;
    unsigned status = accepted ? sink->dialect->accepted_status : (unsigned)sink->status;

    random_bytes(bytes, sizeof(bytes));
    hex_encode(bytes, sizeof(bytes), run + 4);
    char *body =
        accepted ? accepted_body(sink->dialect, run) : error_body("sink_error", "told to say so");
    json_t *line = new_line(exchange, status);
    if (accepted)
        json_object_set_new(line, "run", json_string(run));
    json_object_set_new(line, "wake", wake_json(wake));
    print_line(line);
    if (sink->delay_ms > 0) {
        delay(sink, exchange, status, body);
        return;
    }
    answer_json(exchange, status, body);
    free(body);
}

static void on_request(void *context, struct exchange *exchange)
{
    struct sink *sink = context;
    struct proven proven;
    struct wake wake = {0};
    struct err err = {""};

    enum proof proof =
        sink->dialect->verify(&exchange->request, &sink->keyring, clock_wall_ms(), &proven, &err);
    if (proof != PROOF_OK) {
        refuse(sink, exchange, 401, "authentication_error", err.text);
        return;
    }
    if (sink->dialect->decode(&exchange->request, &wake, &err))
        take(sink, exchange, &wake);
    else
        refuse(sink, exchange, 400, "invalid_request_error", err.text);
    wake_release(&wake);
}

static void on_signal(uv_signal_t *signal, int number)
{
    struct sink *sink = signal->data;

    (void)number;
    front_drain(sink->front);
    while (sink->delayed)
        answer_delayed(sink->delayed);
    front_close(sink->front, NULL, NULL);
    uv_close((uv_handle_t *)&sink->interrupt, NULL);
    uv_close((uv_handle_t *)&sink->terminate, NULL);
    turn_close(&sink->turn);
}

static void end_on(struct sink *sink, uv_signal_t *signal, int number)
{
    uv_signal_init(&sink->loop, signal);
    signal->data = sink;
    uv_signal_start(signal, on_signal, number);
}

static int run(struct sink *sink, const char *listen)
{
    const struct front_settings settings = {.listen = {slice_from(listen)},
                                            .listen_count = 1,
                                            .connections = CONNECTIONS,
                                            .connections_per_address = CONNECTIONS,
                                            .body_memory = LIMIT_BODY_MEMORY,
                                            .head_ms = HEAD_MS,
                                            .body_ms = BODY_MS,
                                            .idle_ms = IDLE_MS};
    const struct http_handlers handlers = {
        .head = on_head, .request = on_request, .fault = on_fault, .context = sink};
    struct err err = {""};

    uv_loop_init(&sink->loop);
    turn_open(&sink->turn, &sink->loop);
    bool open = front_open(&settings, &sink->turn, &handlers, &sink->front, &err);
    if (open) {
        print_line(json_pack("{s:s}", "listening", front_address(sink->front, 0)));
        end_on(sink, &sink->interrupt, SIGINT);
        end_on(sink, &sink->terminate, SIGTERM);
    } else {
        fprintf(stderr, "wakegate sink: %s\n", err.text);
        turn_close(&sink->turn);
    }
    uv_run(&sink->loop, UV_RUN_DEFAULT);
    uv_loop_close(&sink->loop);
    metrics_free();
    return open ? CLI_OK : CLI_FAILED;
}

int cli_sink(int argc, char **argv)
{
    const char *listen = NULL, *dialect = NULL, *secret = NULL, *status = NULL, *delay_ms = NULL;
    struct sink sink = {.keyring = {.count = 1, .schemes = ~0U, .tolerance_s = TOLERANCE_S}};
    const struct option_row rows[] = {
        {.name = "--listen", .values = &listen, .required = true},
        {.name = "--dialect", .values = &dialect, .required = true},
        {.name = "--secret-file", .values = &secret, .required = true},
        {.name = "--status", .values = &status},
        {.name = "--delay", .values = &delay_ms},
    };

    if (!options_read(argc, argv, rows, sizeof(rows) / sizeof(rows[0])) ||
        !options_number(argv[0], "--status", status, 0, 200, 599, &sink.status) ||
        !options_number(argv[0], "--delay", delay_ms, 0, 0, MOST_DELAY_MS, &sink.delay_ms))
        return CLI_USAGE;
    sink.dialect = proof_option_dialect(argv[0], dialect);
    if (!sink.dialect)
        return CLI_USAGE;
    sink.keyring.secrets = &sink.secret;
    bool fine = proof_option_secret(argv[0], secret, sink.dialect, &sink.secret);
    int result = fine ? run(&sink, listen) : CLI_FAILED;
    secret_release(&sink.secret);
    return result;
}
