/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps: what the fault runs link around the gateway's own functions (the linker's --wrap), so that
 * a process dies or stops at a named step of a wake's way. The program that is shipped has nothing
 * of it.
 *
 *   FAULTS_AT=<step>:<n>:kill|stop   at the n-th passing of that step
 *   FAULTS_RECORD=<file>             a line for every answer of the store and of a target, written
 *                                    before anybody acts on it, so that it outlives the process
 *   FAULTS_BREAK=claim|hold|release|withdraw
 *                                    takes that guard away, to show that a run finds it
 *
 * The steps: verified; claiming, claimed; delivering, sent; settling, settled; holding, held;
 * releasing, released; offering, offered; withdrawing, withdrawn; taking, taken. The first of a
 * pair comes before the store is asked, the second when its answer is there and nobody knows it.
 */
#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gateway/arrival.h"
#include "gateway/core/clock.h"
#include "gateway/net/watch.h"
#include "gateway/store/threads.h"
#include "relay/target.h"

enum { CROSSINGS = 4096, LINE_BYTES = 512 };

/* --- the record --- */

struct note { /* one line; what is empty is written as '-' */
    const char *what, *step;
    struct slice key, owner;
    const char *answer;
};

static struct slice dash(struct slice text)
{
    return text.len > 0 ? text : SLICE("-");
}

static void record(const struct note *note)
{
    static int file = -1;
    const char *name = getenv("FAULTS_RECORD");
    char line[LINE_BYTES];

    if (!name)
        return;
    if (file < 0)
        file = open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    int length =
        snprintf(line, sizeof(line), "%" PRIu64 " %d %s %s %.*s %.*s %s\n", clock_steady_us(),
                 (int)getpid(), note->what, note->step ? note->step : "-",
                 SLICE_ARG(dash(note->key)), SLICE_ARG(dash(note->owner)), note->answer);
    if (file < 0 || length <= 0 || length >= LINE_BYTES || write(file, line, (size_t)length) < 0)
        abort();
}

/* --- the steps --- */

static void pass(const char *step)
{
    static unsigned passed;
    const char *at = getenv("FAULTS_AT");
    size_t length = strlen(step);

    if (!at || strncmp(at, step, length) != 0 || at[length] != ':')
        return;
    char *action = NULL;
    if (++passed != strtoul(at + length + 1, &action, 10))
        return;
    record(&(struct note){.what = "step", .step = step, .answer = action + 1});
    kill(getpid(), strcmp(action, ":stop") == 0 ? SIGSTOP : SIGKILL);
}

static bool is_broken(const char *guard)
{
    const char *broken = getenv("FAULTS_BREAK");

    return broken && strcmp(broken, guard) == 0;
}

/* --- operations: their `done` waits here while the answer is recorded --- */

static struct crossing {
    struct op *op; /* NULL: free */
    void (*done)(struct op *op);
} crossings[CROSSINGS];

static void cross(struct op *op, void (*done)(struct op *op))
{
    for (size_t i = 0; i < CROSSINGS; i++)
        if (!crossings[i].op) {
            crossings[i] = (struct crossing){.op = op, .done = done};
            return;
        }
    abort();
}

static void (*crossed(struct op *op))(struct op *op)
{
    for (size_t i = 0; i < CROSSINGS; i++)
        if (crossings[i].op == op) {
            crossings[i].op = NULL;
            return crossings[i].done;
        }
    abort();
}

static const char *const store_answers[] = {
    [STORE_OK] = "ok",           [STORE_LOST] = "lost",           [STORE_CLAIMED] = "claimed",
    [STORE_RELAYED] = "relayed", [STORE_IN_FLIGHT] = "in_flight", [STORE_HELD] = "held",
    [STORE_RESTING] = "resting", [STORE_PACED] = "paced",         [STORE_DOWN] = "down",
    [STORE_UNSURE] = "unsure",
};

static const char *answer_of(const struct store_op *op)
{
    if (op->answer == STORE_CLAIMED && op->repeats == REPEATS_ENDED_LEASE)
        return "ended_lease";
    if (op->answer == STORE_CLAIMED && op->repeats == REPEATS_ENDED_HOLD)
        return "ended_hold";
    return store_answers[op->answer];
}

static void on_store(struct op *op)
{
    static const char *const verbs[] = {"ping", "claim", "settle", "release", "hold"};
    static const char *const steps[] = {"ping", "claimed", "settled", "released", "held"};
    struct store_op *store_op = CONTAINER_OF(op, struct store_op, op);
    bool refused = store_op->answer == STORE_DOWN || store_op->answer == STORE_UNSURE;

    if (store_op->verb == STORE_CLAIM && is_broken("claim") && !refused) {
        store_op->answer = STORE_CLAIMED;
        store_op->repeats = REPEATS_NOTHING;
    }
    record(&(struct note){.what = verbs[store_op->verb],
                          .key = store_op->key,
                          .owner = store_op->owner,
                          .answer = answer_of(store_op)});
    if (store_op->verb != STORE_CLAIM || store_op->answer == STORE_CLAIMED)
        pass(steps[store_op->verb]);
    crossed(op)(op);
}

static void on_threads(struct op *op)
{
    static const char *const answers[] = {"done", "busy", "settled", "nobody", "down", "unsure"};
    struct threads_op *threads_op = CONTAINER_OF(op, struct threads_op, op);
    bool takes = threads_op->verb == THREADS_TAKE, offers = threads_op->verb == THREADS_OFFER;

    record(&(struct note){.what = offers  ? "offer"
                                  : takes ? "take"
                                          : "withdraw",
                          .key = takes ? threads_op->offer : threads_op->key,
                          .owner = takes ? threads_op->taker : threads_op->owner,
                          .answer = answers[threads_op->answer]});
    if (threads_op->answer == THREADS_DONE)
        pass(offers ? "offered" : takes ? "taken" : "withdrawn");
    crossed(op)(op);
}

static void on_delivered(struct op *op)
{
    const struct delivery *delivery = CONTAINER_OF(op, struct delivery, op);

    record(&(struct note){.what = "deliver",
                          .key = delivery->claim,
                          .owner = delivery->owner,
                          .answer = outcome_name(delivery->outcome.code)});
    crossed(op)(op);
}

/* --- what stands in the place of the gateway's functions --- */

#define WRAPPED(type, name, ...)                                                                   \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)

WRAPPED(void, arrival_begin, struct relays *, struct route *, struct exchange *, struct wake *,
        uint64_t);
WRAPPED(void, store_claim, struct store *, struct store_op *, void (*)(struct op *));
WRAPPED(void, store_settle, struct store *, struct store_op *, void (*)(struct op *));
WRAPPED(void, store_release, struct store *, struct store_op *, void (*)(struct op *));
WRAPPED(void, store_hold, struct store *, struct store_op *, void (*)(struct op *));
WRAPPED(void, threads_submit, struct threads *, struct threads_op *, enum threads_verb,
        void (*)(struct op *));
WRAPPED(void, target_deliver, struct target *, struct delivery *, const struct wake *, struct slice,
        void (*)(struct op *));
WRAPPED(void, watch_for, struct watch *, int);

void __wrap_arrival_begin(struct relays *relays, struct route *route, struct exchange *exchange,
                          struct wake *wake, uint64_t until_ms)
{
    pass("verified");
    __real_arrival_begin(relays, route, exchange, wake, until_ms);
}

void __wrap_store_claim(struct store *store, struct store_op *op, void (*done)(struct op *op))
{
    pass("claiming");
    cross(&op->op, done);
    __real_store_claim(store, op, on_store);
}

void __wrap_store_settle(struct store *store, struct store_op *op, void (*done)(struct op *op))
{
    pass("settling");
    cross(&op->op, done);
    __real_store_settle(store, op, on_store);
}

void __wrap_store_release(struct store *store, struct store_op *op, void (*done)(struct op *op))
{
    pass("releasing");
    cross(&op->op, done);
    if (is_broken("release"))
        __real_store_settle(store, op, on_store);
    else
        __real_store_release(store, op, on_store);
}

void __wrap_store_hold(struct store *store, struct store_op *op, void (*done)(struct op *op))
{
    pass("holding");
    cross(&op->op, done);
    if (is_broken("hold"))
        __real_store_release(store, op, on_store);
    else
        __real_store_hold(store, op, on_store);
}

void __wrap_threads_submit(struct threads *threads, struct threads_op *op, enum threads_verb verb,
                           void (*done)(struct op *op))
{
    static const char *const steps[] = {
        [THREADS_OFFER] = "offering",
        [THREADS_TAKE] = "taking",
        [THREADS_WITHDRAW] = "withdrawing",
        [THREADS_PRESENT] = NULL,
    };

    if (!steps[verb]) {
        __real_threads_submit(threads, op, verb, done);
        return;
    }
    pass(steps[verb]);
    cross(&op->op, done);
    if (verb == THREADS_WITHDRAW && is_broken("withdraw"))
        verb = THREADS_APPEND; /* it is said that the offer is over, and it is not */
    __real_threads_submit(threads, op, verb, on_threads);
}

void __wrap_target_deliver(struct target *target, struct delivery *delivery,
                           const struct wake *wake, struct slice key, void (*done)(struct op *op))
{
    pass("delivering");
    cross(&delivery->op, done);
    __real_target_deliver(target, delivery, wake, key, on_delivered);
}

/* libcurl's wish to read and not to write: the request is with the kernel. */
void __wrap_watch_for(struct watch *watch, int events)
{
    if (events == UV_READABLE)
        pass("sent");
    __real_watch_for(watch, events);
}
