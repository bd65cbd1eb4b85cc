/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcurl says which sockets and which one timer it waits for; libuv watches them and tells libcurl
 * what happened. The callbacks that libcurl calls only take notes: nothing is asked of libcurl from
 * inside them. What is over is fetched in one place, `proceed`.
 *
 * One call is one `work`: an easy handle with the options that never change, used again for later
 * calls. Options whose failure would send a wake to the wrong place cannot fail: libcurl's memory
 * comes from mem_room, which ends the process when there is none.
 *
 * Whether something was sent is read off CURLINFO_REQUEST_SIZE. It does not count a TLS record that
 * went out in part, and no server can read one.
 */
#include "relay/http_client.h"

#include <assert.h>
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "gateway/core/clock.h"
#include "gateway/core/deadline.h"
#include "gateway/core/limits.h"
#include "gateway/core/retry_after.h"
#include "gateway/net/watch.h"
#include "relay/http_guard.h"
#include "relay/http_head.h"

enum { IDLE_WORKS = 64, KEPT_CONNECTIONS = 64 };

struct http_client {
    struct turn *turn;
    CURLM *multi;
    struct deadline timer;
    bool private_too;
    char *ca_file;
    struct work *idle;
    unsigned idle_count, running;
    void (*closed)(void *context);
    void *context;
};

struct work {
    struct http_client *client;
    struct http_call *call; /* NULL while idle */
    struct work *next;      /* in the idle list */
    CURL *easy;
    struct curl_slist *headers;
    struct http_head head; /* of the answer */
    bool cut;              /* the answer's body is longer than is read */
    struct http_guard guard;
    char error[CURL_ERROR_SIZE];
};

static void *zeroed(size_t count, size_t size)
{
    return mem_new(count * size); /* as libcurl uses it, this cannot wrap */
}

static char *copied(const char *text)
{
    return mem_text(slice_from(text));
}

/* What libcurl asks for while a call runs. */

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *to)
{
    struct work *work = context;

    (void)purpose;
    if (!http_guard_allows(&work->guard, &to->addr))
        return CURL_SOCKET_BAD;
    return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

static size_t on_header(char *bytes, size_t size, size_t count, void *context)
{
    struct work *work = context;
    struct slice line = {.data = bytes, .len = size * count};

    return http_head_take(&work->head, line) ? line.len : 0;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
    struct work *work = context;
    struct buf *answer = &work->call->answer;
    struct slice body = {.data = bytes, .len = size * count};

    work->cut = body.len > answer->max - answer->len;
    buf_append(answer, slice_first(body, answer->max - answer->len));
    return work->cut ? 0 : body.len;
}

static struct work *work_new(struct http_client *client)
{
    struct work *work = mem_new(sizeof(*work));
    CURL *easy = curl_easy_init();

    work->client = client;
    work->easy = easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, work);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, work->error);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* a look-up that hangs is left behind */
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (client->ca_file)
        curl_easy_setopt(easy, CURLOPT_CAINFO, client->ca_file);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "wakegate/" WAKEGATE_VERSION);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, work);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, work);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, work);
    return work;
}

static void work_free(struct work *work)
{
    curl_easy_cleanup(work->easy);
    free(work);
}

static struct work *work_take(struct http_client *client)
{
    struct work *work = client->idle;

    if (!work)
        return work_new(client);
    client->idle = work->next;
    client->idle_count--;
    return work;
}

static void work_give_back(struct work *work)
{
    struct http_client *client = work->client;

    curl_slist_free_all(work->headers);
    work->headers = NULL;
    work->call = NULL;
    if (client->idle_count == IDLE_WORKS) {
        work_free(work);
        return;
    }
    work->next = client->idle;
    client->idle = work;
    client->idle_count++;
}

static struct curl_slist *header_list(struct slice lines)
{
    struct curl_slist *list = curl_slist_append(NULL, "Expect:"); /* never ask to continue */
    struct slice line;

    while (lines.len > 0) {
        slice_cut(lines, '\0', &line, &lines);
        list = curl_slist_append(list, line.data);
    }
    return list;
}

static void work_prepare(struct work *work, struct http_call *call, bool post)
{
    CURL *easy = work->easy;
    long fresh = call->fresh_connection;

    assert(call->timeout_ms > 0); /* 0 would mean forever */
    work->call = call;
    work->head = (struct http_head){.wanted = call->wanted, .kept = &call->kept};
    work->cut = false;
    work->guard = (struct http_guard){.private_too = work->client->private_too};
    work->error[0] = '\0';
    work->headers = header_list(call->headers);
    curl_easy_setopt(easy, CURLOPT_URL, call->url);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, work->headers);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)call->timeout_ms);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, fresh);
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, fresh);
    curl_easy_setopt(easy, post ? CURLOPT_POST : CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, post ? call->method : NULL);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.len);
    if (post)
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->body.data ? call->body.data : "");
}

/* Why there is no answer, without the URL. */
static void explain(const struct work *work, CURLcode code, struct err *err)
{
    if (code == CURLE_ABORTED_BY_CALLBACK)
        err_set(err, "given up before there was an answer");
    else if (http_head_explain(&work->head, err))
        return;
    else if (code == CURLE_OUT_OF_MEMORY) /* a limit of libcurl's, not of mem_room's */
        err_set(err, "the answer has a line that is too long");
    else if (code == CURLE_OK)
        err_set(err, "the connection ended inside the answer's head");
    else if (code != CURLE_COULDNT_CONNECT || !http_guard_explain(&work->guard, err))
        err_set(err, "%s", work->error[0] ? work->error : curl_easy_strerror(code));
}

static void read_retry_after(struct work *work)
{
    struct http_call *call = work->call;
    struct curl_header *header = NULL;

    if (curl_easy_header(work->easy, "Retry-After", 0, CURLH_HEADER, -1, &header) != CURLHE_OK)
        return;
    call->has_retry_after = true;
    call->retry_after_ms =
        retry_after_parse(slice_trim(slice_from(header->value)), clock_wall_ms());
}

static bool is_unsent(const struct work *work)
{
    long sent = 0;

    curl_easy_getinfo(work->easy, CURLINFO_REQUEST_SIZE, &sent);
    return sent == 0;
}

/* Sets the result and hands the call back to its owner. */
static void work_finish(struct work *work, CURLcode code)
{
    struct http_client *client = work->client;
    struct http_call *call = work->call;
    long status = 0;

    curl_easy_getinfo(work->easy, CURLINFO_RESPONSE_CODE, &status);
    bool enough = code == CURLE_OK || work->cut || work->head.coded;
    if (enough && work->head.whole && status >= 200) {
        call->result = HTTP_ANSWERED;
        call->status = (unsigned)status;
        read_retry_after(work);
    } else {
        call->result = is_unsent(work) ? HTTP_NOT_SENT : HTTP_NO_ANSWER;
        explain(work, code, &call->err);
    }
    curl_multi_remove_handle(client->multi, work->easy);
    call->work = NULL;
    client->running--;
    work_give_back(work);
    op_finish(&call->op, client->turn);
}

/* Sockets and the timer. */

static void proceed(struct http_client *client, curl_socket_t fd, int ready)
{
    int left;

    curl_multi_socket_action(client->multi, fd, ready, &left);
    for (CURLMsg *message = curl_multi_info_read(client->multi, &left); message;
         message = curl_multi_info_read(client->multi, &left)) {
        CURLcode code = message->data.result;
        char *work = NULL;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &work);
        work_finish((struct work *)(void *)work, code);
    }
}

static void on_ready(struct watch *watch, int fd, int events)
{
    int in = events & UV_READABLE ? CURL_CSELECT_IN : 0;
    int out = events & UV_WRITABLE ? CURL_CSELECT_OUT : 0;
    int failed = events & WATCH_FAILED ? CURL_CSELECT_ERR : 0;

    proceed(watch->context, fd, in | out | failed);
}

static void on_due(struct deadline *timer)
{
    proceed(CONTAINER_OF(timer, struct http_client, timer), CURL_SOCKET_TIMEOUT, 0);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *known)
{
    struct http_client *client = context;
    struct watch *watch = known;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        watch_close(watch);
        return 0;
    }
    if (!watch) {
        watch = watch_open(client->turn->loop, fd, on_ready, client);
        curl_multi_assign(client->multi, fd, watch);
    }
    int in = what & CURL_POLL_IN ? UV_READABLE : 0, out = what & CURL_POLL_OUT ? UV_WRITABLE : 0;
    watch_for(watch, in | out);
    return 0;
}

static int on_timer_wanted(CURLM *multi, long ms, void *context)
{
    struct http_client *client = context;

    (void)multi;
    if (ms < 0)
        deadline_clear(&client->timer);
    else
        deadline_set(&client->timer, (uint64_t)ms);
    return 0;
}

struct http_client *http_client_open(struct turn *turn, bool private_too, const char *ca_file)
{
    struct http_client *client = mem_new(sizeof(*client));

    unsetenv("SSLKEYLOGFILE"); /* libcurl would write the keys of its connections there */
    curl_global_init_mem(CURL_GLOBAL_DEFAULT, mem_room, free, mem_grow, copied, zeroed);
    client->turn = turn;
    client->private_too = private_too;
    client->ca_file = ca_file ? mem_text(slice_from(ca_file)) : NULL;
    deadline_open(&client->timer, turn->loop, on_due);
    client->multi = curl_multi_init();
    assert(client->multi);
    curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
    curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, on_timer_wanted);
    curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
    curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)KEPT_CONNECTIONS);
    return client;
}

static void timer_gone(struct deadline *timer)
{
    struct http_client *client = CONTAINER_OF(timer, struct http_client, timer);

    if (client->closed)
        client->closed(client->context);
    free(client);
}

void http_client_close(struct http_client *client, void (*closed)(void *context), void *context)
{
    assert(client->running == 0);
    client->closed = closed;
    client->context = context;
    while (client->idle)
        work_free(work_take(client));
    curl_multi_cleanup(client->multi);
    curl_global_cleanup();
    free(client->ca_file);
    deadline_close(&client->timer, timer_gone);
}

static void begin(struct http_client *client, struct http_call *call, bool post,
                  void (*done)(struct op *op))
{
    struct work *work = work_take(client);

    op_begin(&call->op, done);
    call->has_retry_after = false;
    call->answer = (struct buf)BUF_INIT(LIMIT_ANSWER_BYTES);
    call->kept = (struct buf)BUF_INIT(LIMIT_ANSWER_HEADER_BYTES);
    call->work = work;
    work_prepare(work, call, post);
    curl_multi_add_handle(client->multi, work->easy);
    client->running++;
}

void http_client_send(struct http_client *client, struct http_call *call,
                      void (*done)(struct op *op))
{
    begin(client, call, true, done);
}

void http_client_get(struct http_client *client, struct http_call *call,
                     void (*done)(struct op *op))
{
    begin(client, call, false, done);
}

void http_client_cancel(struct http_client *client, struct http_call *call)
{
    (void)client;
    if (call->work)
        work_finish(call->work, CURLE_ABORTED_BY_CALLBACK);
}

bool http_client_is_unsent(const struct http_call *call)
{
    return call->work && is_unsent(call->work);
}

const char *http_client_library(void)
{
    return curl_version();
}
