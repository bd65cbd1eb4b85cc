/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of one delivery: frame -> send -> judge -> outcome. One request and no second one: the
 * sender's own retries are the only ones there are.
 *
 *   not sent           unavailable: nothing happened there
 *   sent, no answer    ambiguous
 *   answered           what the dialect says that the answer means
 *
 * A runtime that is not idempotent gets a fresh connection for each request, since libcurl would
 * send a request again that died on a kept one.
 */
#include "relay/trigger.h"

#include <stdlib.h>
#include <string.h>

#include "dialects/outgoing.h"
#include "gateway/core/clock.h"
#include "gateway/core/limits.h"
#include "relay/conceal.h"
#include "relay/http_client.h"
#include "relay/texts.h"

enum { HEADER_BYTES = 16384 };

struct work { /* one delivery under way */
    struct trigger *trigger;
    struct delivery *delivery;
    struct outgoing out;
    struct http_call call;
};

static struct target *trigger_open(struct settings *settings, const struct route_facts *route,
                                   const struct world *world)
{
    struct trigger *trigger = trigger_read(settings, route);

    if (!trigger)
        return NULL;
    if (world) {
        trigger->client = trigger->private_too ? world->private_http : world->http;
        trigger->turn = world->turn;
        if (trigger->dialect->carries_text && trigger->speech.prompt.len == 0)
            trigger->texts = world->texts;
        texts_want(trigger->texts, trigger->texts_runtime);
    }
    return &trigger->target;
}

static void trigger_close(struct target *target)
{
    trigger_free((struct trigger *)(void *)target);
}

/* The end of every delivery. */
static void work_finish(struct work *work)
{
    struct trigger *trigger = work->trigger;
    struct delivery *delivery = work->delivery;

    buf_release(&work->out.headers);
    buf_release(&work->out.body);
    buf_release(&work->call.answer);
    free(work);
    delivery->work = NULL;
    op_finish(&delivery->op, trigger->turn);
}

static void explain(struct outcome *outcome, enum outcome_code code, const struct err *err)
{
    outcome->code = code;
    outcome_text(outcome->detail, sizeof(outcome->detail), err->text, strlen(err->text));
}

static void judge(const struct work *work, struct outcome *outcome)
{
    const struct trigger *trigger = work->trigger;
    const struct http_call *call = &work->call;
    struct verdict verdict = {0};

    trigger->dialect->judge(call->status, buf_slice(&call->answer), &trigger->speech, &verdict);
    outcome->code = verdict.code;
    outcome->retry_after_ms = call->has_retry_after ? call->retry_after_ms : verdict.retry_after_ms;
    outcome_text(outcome->run, sizeof(outcome->run), verdict.run, strlen(verdict.run));
    outcome_text(outcome->detail, sizeof(outcome->detail), verdict.detail, strlen(verdict.detail));
}

/* Whatever was said, by the runtime or about the connection to it. */
static void conceal_request(const struct work *work, struct outcome *outcome)
{
    const struct trigger *trigger = work->trigger;
    const struct conceal request = {
        .secret = trigger->secret.text,
        .headers = buf_slice(&work->out.headers),
        .key = work->delivery->key,
        .url = trigger->url,
        .host_too = trigger->url_is_secret,
    };

    conceal(&request, outcome->run);
    conceal(&request, outcome->detail);
}

static void on_sent(struct op *op)
{
    struct work *work = CONTAINER_OF(op, struct work, call.op);
    struct outcome *outcome = &work->delivery->outcome;

    switch (work->call.result) {
    case HTTP_ANSWERED:
        judge(work, outcome);
        break;
    case HTTP_NOT_SENT:
        explain(outcome, OUTCOME_UNAVAILABLE, &work->call.err);
        break;
    case HTTP_NO_ANSWER:
        explain(outcome, OUTCOME_AMBIGUOUS, &work->call.err);
        break;
    }
    conceal_request(work, outcome);
    work_finish(work);
}

static struct trigger_speech speech_for(const struct trigger *trigger, const struct wake *wake)
{
    struct trigger_speech speech = trigger->speech;

    if (trigger->texts)
        speech.prompt =
            texts_instruction(trigger->texts, trigger->texts_runtime, wake_reason(wake));
    return speech;
}

static void trigger_deliver(struct target *target, struct delivery *delivery)
{
    struct trigger *trigger = (struct trigger *)(void *)target;
    struct work *work = mem_new(sizeof(*work));
    const struct trigger_speech speech = speech_for(trigger, delivery->wake);
    struct err err = {0};

    *work = (struct work){
        .trigger = trigger,
        .delivery = delivery,
        .out = {.headers = BUF_INIT(HEADER_BYTES), .body = BUF_INIT(LIMIT_OUT_BODY_BYTES)},
    };
    if (!trigger->dialect->frame(delivery->wake, &speech, delivery->key, clock_wall_ms(),
                                 &work->out, &err)) {
        explain(&delivery->outcome, OUTCOME_REFUSED, &err);
        work_finish(work);
        return;
    }
    if (delivery->wake->trace.parent.len > 0)
        outgoing_header(&work->out, "traceparent", delivery->wake->trace.parent);
    if (delivery->wake->trace.state.len > 0)
        outgoing_header(&work->out, "tracestate", delivery->wake->trace.state);
    delivery->work = work;
    work->call.url = trigger->url;
    work->call.headers = buf_slice(&work->out.headers);
    work->call.body = buf_slice(&work->out.body);
    work->call.timeout_ms = target->timeout_ms;
    work->call.fresh_connection = !target->idempotent;
    http_client_send(trigger->client, &work->call, on_sent);
}

static void trigger_cancel(struct target *target, struct delivery *delivery)
{
    struct trigger *trigger = (struct trigger *)(void *)target;
    struct work *work = delivery->work;

    if (work)
        http_client_cancel(trigger->client, &work->call);
}

static bool trigger_is_unsent(const struct delivery *delivery)
{
    const struct work *work = delivery->work;

    return work && http_client_is_unsent(&work->call);
}

const struct target_kind target_trigger = {
    .name = "trigger",
    .open = trigger_open,
    .deliver = trigger_deliver,
    .cancel = trigger_cancel,
    .is_unsent = trigger_is_unsent,
    .close = trigger_close,
};
