/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/admin.h"

#include "dialects/bearer.h"
#include "gateway/admin_deliveries.h"
#include "gateway/admin_redeliver.h"
#include "gateway/core/log.h"
#include "gateway/core/metrics.h"

#define LIST  SLICE("/admin/deliveries")
#define BELOW SLICE("/admin/deliveries/")
#define AGAIN SLICE("/redeliver")

enum { RUNNING_MAX = 16 };

bool admin_is_path(struct slice path)
{
    return slice_starts(path, SLICE("/admin/"));
}

/* /admin/deliveries/<id>/redeliver */
static bool is_redeliver(struct slice path, struct slice *id)
{
    if (!slice_starts(path, BELOW) || !slice_ends(path, AGAIN))
        return false;
    *id = slice_from_at(path, BELOW.len);
    *id = slice_first(*id, id->len > AGAIN.len ? id->len - AGAIN.len : 0);
    return wake_is_delivery_id(*id);
}

void admin_log_begin(const struct exchange *exchange, enum answer_code code)
{
    unsigned status = answer_status(code);

    log_begin(status < 400 ? LOG_INFO : LOG_WARN, "admin");
    log_text("code", answer_code_name(code));
    log_num("status", status);
    log_text("peer", exchange->peer);
}

void admin_refuse(struct exchange *exchange, enum answer_code code, const char *why)
{
    ++*metrics_value(METRIC_REQUESTS_REFUSED, answer_code_name(code), NULL, NULL);
    admin_log_begin(exchange, code);
    log_text("why", why);
    log_end();
    answer_error(exchange, code, why);
}

/* The same answer whatever is wrong; the log says what. */
static bool prove(const struct keyring *tokens, struct exchange *exchange)
{
    struct slice token;
    unsigned which;
    struct err err = {0};

    enum proof proof = bearer_token(&exchange->request, &token, &err);
    if (proof == PROOF_OK)
        proof = bearer_check(tokens, token, &which, &err);
    if (proof == PROOF_OK)
        return true;
    ++*metrics_value(METRIC_REQUESTS_REFUSED, answer_code_name(ANSWER_UNAUTHORIZED), NULL, NULL);
    admin_log_begin(exchange, ANSWER_UNAUTHORIZED);
    log_text("why", proof_name(proof));
    log_end();
    answer_error(exchange, ANSWER_UNAUTHORIZED, NULL);
    return false;
}

void admin_head(struct admin *admin, struct exchange *exchange, bool trusted)
{
    const struct keyring *tokens = &admin->intake->config->admin_api.tokens;
    bool get =
        slice_eq(exchange->method, SLICE("GET")) || slice_eq(exchange->method, SLICE("HEAD"));
    struct slice id;

    if (!trusted && tokens->count == 0) {
        admin_refuse(exchange, ANSWER_UNKNOWN_ROUTE, NULL);
        return;
    }
    if (!trusted && !prove(tokens, exchange))
        return;
    if (slice_eq(exchange->path, LIST)) {
        if (!get)
            answer_method(exchange, "GET, HEAD");
    } else if (is_redeliver(exchange->path, &id)) {
        if (!slice_eq(exchange->method, SLICE("POST")))
            answer_method(exchange, "POST");
    } else {
        admin_refuse(exchange, ANSWER_UNKNOWN_ROUTE, NULL);
    }
}

void admin_request(struct admin *admin, struct exchange *exchange)
{
    struct slice id;

    if (is_redeliver(exchange->path, &id))
        admin_redeliver(admin, exchange, id);
    else
        admin_deliveries(admin, exchange);
}

bool admin_enter(struct admin *admin, struct exchange *exchange)
{
    if (admin->closed)
        admin_refuse(exchange, ANSWER_DRAINING, NULL);
    else if (!admin->journal)
        admin_refuse(exchange, ANSWER_NO_JOURNAL, NULL);
    else if (admin->running == RUNNING_MAX)
        admin_refuse(exchange, ANSWER_OVERLOADED, NULL);
    else {
        admin->running++;
        return true;
    }
    return false;
}

void admin_leave(struct admin *admin)
{
    if (--admin->running == 0 && admin->closed)
        admin->closed(admin->context);
}

void admin_close(struct admin *admin, void (*closed)(void *context), void *context)
{
    admin->closed = closed;
    admin->context = context;
    if (admin->running == 0)
        closed(context);
}
