/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socketio_app: a small application on the Socket.IO server, for the tests in
 * e2e/socketio.test.mjs.
 *
 *   /socket.io/   namespaces "/" and "/custom": `auth` tells the client what it connected with;
 *                 `message` comes back as `message-back`, `message-with-ack` is acknowledged, both
 *                 with the same arguments; `broadcast` goes to everybody in the namespace as
 *                 `news`; `ask` makes the server ask a `question` and tell the answer as `answer`;
 *                 `leave` has the client sent away. Namespace "/refusing" lets nobody in.
 *   /engine.io/   without Socket.IO: every message comes back.
 *   /sessions     how many sessions there are
 *
 * It prints where it listens, and ends with SIGTERM.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/core/buf.h"
#include "gateway/core/log.h"
#include "gateway/core/metrics.h"
#include "gateway/net/front.h"
#include "relay/socketio/socketio.h"

struct app {
    uv_loop_t loop;
    struct turn turn;
    struct front *front;
    struct engine *echo;       /* NULL when it is closed */
    struct socketio *socketio; /* the same */
    struct connection *connections;
    uv_signal_t signal;
};

struct connection { /* a client in a namespace */
    struct app *app;
    struct socketio_socket *socket;
    const char *name_space;
    json_t *auth;
    struct connection *next;
};

/* ---- options */

static struct option {
    const char *name;
    int64_t value;
} options[] = {
    {"--port", 0},
    {"--ping-interval", 25000},
    {"--ping-timeout", 20000},
    {"--upgrade-timeout", 10000},
    {"--connect-timeout", 45000},
    {"--max-payload", 1000000},
    {"--queue-bytes", 4000000},
    {"--connections", 5000},
};

enum {
    PORT,
    PING_INTERVAL,
    PING_TIMEOUT,
    UPGRADE_TIMEOUT,
    CONNECT_TIMEOUT,
    MAX_PAYLOAD,
    QUEUE,
    CONNECTIONS
};

static bool read_option(const char *name, const char *text)
{
    uint64_t value = 0;

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (strcmp(options[i].name, name) == 0 && slice_number(slice_from(text), &value)) {
            options[i].value = (int64_t)value;
            return true;
        }
    fprintf(stderr, "socketio_app: no option %s with the value %s\n", name, text);
    return false;
}

static struct engine_settings engine_settings(void)
{
    static const char *const origins[] = {"*", NULL};

    return (struct engine_settings){
        .ping_interval_ms = options[PING_INTERVAL].value,
        .ping_timeout_ms = options[PING_TIMEOUT].value,
        .upgrade_timeout_ms = options[UPGRADE_TIMEOUT].value,
        .max_payload = (size_t)options[MAX_PAYLOAD].value,
        .queue_bytes = (size_t)options[QUEUE].value,
        .sessions = (unsigned)options[CONNECTIONS].value,
        .origins = origins,
    };
}

/* ---- Engine.IO: every message comes back */

static void *echo_opened(void *context, struct engine_session *session,
                         const struct request *request)
{
    (void)context;
    (void)request;
    return session;
}

static void echo_message(void *user, struct slice bytes, bool binary)
{
    struct engine_message *message = engine_message_new(bytes, binary);

    engine_send(user, message);
    engine_message_drop(message);
}

static void echo_closed(void *user, const char *why)
{
    (void)user;
    (void)why;
}

/* ---- Socket.IO */

static bool let_in(void *context, struct socketio_socket *socket, json_t *auth,
                   const struct request *handshake, void **user, struct err *why)
{
    struct connection *connection = mem_new(sizeof(*connection));

    (void)why;
    (void)handshake;
    *connection = (struct connection){.app = context, .socket = socket};
    connection->auth = auth ? json_incref(auth) : json_object();
    connection->next = connection->app->connections;
    connection->app->connections = connection;
    *user = connection;
    return true;
}

static bool let_nobody_in(void *context, struct socketio_socket *socket, json_t *auth,
                          const struct request *handshake, void **user, struct err *why)
{
    (void)context;
    (void)socket;
    (void)auth;
    (void)handshake;
    (void)user;
    return err_set(why, "Not authorized");
}

static void on_connected_root(void *user, struct socketio_socket *socket)
{
    struct connection *connection = user;

    connection->name_space = "/";
    socketio_emit(socket, "auth", json_incref(connection->auth));
}

static void on_connected_custom(void *user, struct socketio_socket *socket)
{
    on_connected_root(user, socket);
    ((struct connection *)user)->name_space = "/custom";
}

static void send_back(struct connection *connection, const char *name,
                      const struct socketio_arguments *arguments)
{
    struct socketio_packet *packet = socketio_event(connection->name_space, name, arguments);

    socketio_send(connection->socket, packet);
    socketio_packet_drop(packet);
}

static void broadcast(struct connection *from, const struct socketio_arguments *arguments)
{
    struct socketio_packet *packet = socketio_event(from->name_space, "news", arguments);

    for (struct connection *connection = from->app->connections; connection;
         connection = connection->next)
        if (strcmp(connection->name_space, from->name_space) == 0)
            socketio_send(connection->socket, packet);
    socketio_packet_drop(packet);
}

static void on_answer(void *context, const struct socketio_arguments *arguments)
{
    if (arguments)
        send_back(context, "answer", arguments);
}

static void on_event(void *user, struct socketio_socket *socket, const char *name,
                     const struct socketio_arguments *arguments, struct socketio_ack *ack)
{
    if (strcmp(name, "message") == 0)
        send_back(user, "message-back", arguments);
    else if (strcmp(name, "broadcast") == 0)
        broadcast(user, arguments);
    else if (strcmp(name, "leave") == 0)
        socketio_disconnect(socket);
    else if (strcmp(name, "ask") == 0)
        socketio_ask(socket, "question", json_incref(json_array_get(arguments->json, 0)), 60000,
                     on_answer, user);
    if (ack && strcmp(name, "message-with-ack") == 0)
        socketio_acknowledge(ack, arguments);
    else
        socketio_ack_drop(ack);
}

static void on_disconnected(void *user, struct socketio_socket *socket, const char *why)
{
    struct connection *connection = user, **at = &connection->app->connections;

    (void)socket;
    (void)why;
    while (*at != connection)
        at = &(*at)->next;
    *at = connection->next;
    json_decref(connection->auth);
    free(connection);
}

/* ---- HTTP */

static void answer(struct exchange *exchange, unsigned status, struct slice body)
{
    const struct http_answer text = {.status = status, .content_type = "text/plain", .body = body};

    exchange_answer(exchange, &text);
}

static struct engine *engine_at(struct app *app, struct slice path)
{
    if (slice_eq(path, SLICE("/engine.io/")))
        return app->echo;
    if (slice_eq(path, SLICE("/socket.io/")) && app->socketio)
        return socketio_engine(app->socketio);
    return NULL;
}

static void on_head(void *context, struct exchange *exchange)
{
    struct engine *engine = engine_at(context, exchange->path);

    if (engine)
        engine_head(engine, exchange);
    else if (!slice_eq(exchange->path, SLICE("/sessions")))
        answer(exchange, 404, SLICE("no such path"));
}

static void on_request(void *context, struct exchange *exchange)
{
    struct app *app = context;
    struct engine *engine = engine_at(app, exchange->path);
    char count[32];

    if (engine) {
        engine_request(engine, exchange);
        return;
    }
    if (!app->echo || !app->socketio) {
        answer(exchange, 503, SLICE("closing"));
        return;
    }
    snprintf(count, sizeof(count), "%u",
             engine_session_count(app->echo) +
                 engine_session_count(socketio_engine(app->socketio)));
    answer(exchange, 200, slice_from(count));
}

static void on_fault(void *context, struct exchange *exchange, enum http_fault fault)
{
    struct engine *engine = engine_at(context, exchange->path);

    if (engine)
        engine_fault(engine, exchange, fault);
    else
        answer(exchange, 400, SLICE(""));
}

static void on_gone(void *context, struct exchange *exchange)
{
    struct engine *engine = engine_at(context, exchange->path);

    if (engine)
        engine_gone(engine, exchange);
}

/* ---- beginning and end */

static void open_servers(struct app *app)
{
    static const struct engine_events echo = {echo_opened, echo_message, echo_closed};
    static struct socketio_namespace root = {.name = "/",
                                             .connect = let_in,
                                             .connected = on_connected_root,
                                             .event = on_event,
                                             .disconnected = on_disconnected};
    static struct socketio_namespace custom = {.name = "/custom",
                                               .connect = let_in,
                                               .connected = on_connected_custom,
                                               .event = on_event,
                                               .disconnected = on_disconnected};
    static const struct socketio_namespace refusing = {
        .name = "/refusing", .connect = let_nobody_in, .event = on_event};
    static const struct socketio_namespace *const all[] = {&root, &custom, &refusing, NULL};
    const struct engine_settings engine = engine_settings();
    const struct socketio_settings settings = {
        .engine = engine,
        .connect_timeout_ms = options[CONNECT_TIMEOUT].value,
        .acks_pending = 100,
    };

    root.context = custom.context = app;
    app->echo = engine_open(&app->turn, &engine, &echo, app);
    app->socketio = socketio_open(&app->turn, &settings, all);
}

static bool open_front(struct app *app)
{
    const struct http_handlers handlers = {
        .head = on_head, .request = on_request, .fault = on_fault, .gone = on_gone, .context = app};
    char address[64];
    struct err err = {""};

    int len = snprintf(address, sizeof(address), "127.0.0.1:%d", (int)options[PORT].value);
    const struct front_settings settings = {
        .listen = {{address, (size_t)len}},
        .listen_count = 1,
        .connections = (unsigned)options[CONNECTIONS].value,
        .connections_per_address = (unsigned)options[CONNECTIONS].value,
        .body_memory = LIMIT_BODY_MEMORY,
        .head_ms = 10000,
        .body_ms = 30000,
        .idle_ms = 60000,
    };
    if (front_open(&settings, &app->turn, &handlers, &app->front, &err)) {
        printf("%s\n", front_address(app->front, 0));
        fflush(stdout);
        return true;
    }
    fprintf(stderr, "socketio_app: %s\n", err.text);
    return false;
}

static void on_front_closed(void *context)
{
    turn_close(&((struct app *)context)->turn);
}

static void close_front(struct app *app)
{
    if (!app->echo && !app->socketio)
        front_close(app->front, on_front_closed, app);
}

static void on_echo_closed(void *context)
{
    struct app *app = context;

    app->echo = NULL;
    close_front(app);
}

static void on_socketio_closed(void *context)
{
    struct app *app = context;

    app->socketio = NULL;
    close_front(app);
}

static void on_signal(uv_signal_t *signal, int number)
{
    struct app *app = signal->data;

    (void)number;
    uv_close((uv_handle_t *)signal, NULL);
    front_drain(app->front);
    engine_close(app->echo, on_echo_closed, app);
    socketio_close(app->socketio, on_socketio_closed, app);
}

int main(int argc, char **argv)
{
    static struct app app;

    for (int i = 1; i + 1 < argc; i += 2)
        if (!read_option(argv[i], argv[i + 1]))
            return 2;
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&app.loop);
    turn_open(&app.turn, &app.loop);
    log_open(LOG_WARN, &app.turn);
    open_servers(&app);
    if (!open_front(&app))
        return 1;
    app.signal.data = &app;
    uv_signal_init(&app.loop, &app.signal);
    uv_signal_start(&app.signal, on_signal, SIGTERM);
    uv_run(&app.loop, UV_RUN_DEFAULT);
    log_close();
    metrics_free();
    return uv_loop_close(&app.loop) == 0 ? 0 : 1;
}
