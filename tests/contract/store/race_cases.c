/* SPDX-License-Identifier: Apache-2.0 */
/* Many operations at once: in one turn, and from several connections. */
#include "tests/contract/store/rig.h"

#include <stdio.h>
#include <stdlib.h>

#include "gateway/core/buf.h"

enum { CROWD = 2000, CONNECTIONS = 4, CHAINS = 64, WAKES = 6000 };

static unsigned count(const struct question *crowd, enum store_answer answer)
{
    unsigned found = 0;

    for (size_t i = 0; i < CROWD; i++)
        found += crowd[i].op.answer == answer;
    return found;
}

/* Question `i` of the crowd, of an owner of its own. */
static void start(struct rig *rig, struct question *crowd, size_t i, struct ask ask)
{
    char owner[32];

    snprintf(owner, sizeof(owner), "o%zu", i);
    ask.owner = owner;
    ask.for_ms = LONG_MS;
    rig_start(rig, &crowd[i], STORE_CLAIM, ask);
}

static void one_key(struct rig *rig)
{
    struct question *crowd = mem_new(CROWD * sizeof(*crowd));

    for (size_t i = 0; i < CROWD; i++)
        start(rig, crowd, i, (struct ask){.key = "a"});
    for (size_t i = 0; i < CROWD; i++)
        rig_finish(rig, &crowd[i]);
    assert_int_equal(count(crowd, STORE_CLAIMED), 1);
    assert_int_equal(count(crowd, STORE_IN_FLIGHT), CROWD - 1);
    free(crowd);
}

static void one_gate(struct rig *rig)
{
    struct question *crowd = mem_new(CROWD * sizeof(*crowd));
    struct ask ask = {.gate = "g", .pace = {.per_hour = 1, .burst = 10}};

    for (size_t i = 0; i < CROWD; i++) {
        char key[32];
        snprintf(key, sizeof(key), "k%zu", i);
        ask.key = key;
        start(rig, crowd, i, ask);
    }
    for (size_t i = 0; i < CROWD; i++)
        rig_finish(rig, &crowd[i]);
    assert_int_equal(count(crowd, STORE_CLAIMED), 10);
    assert_int_equal(count(crowd, STORE_PACED), CROWD - 10);
    free(crowd);
}

static void in_order(struct rig *rig)
{
    struct question claim = {0}, settle = {0}, late = {0};

    rig_start(rig, &claim, STORE_CLAIM, (struct ask){.key = "a", .owner = "ann", .for_ms = 1000});
    rig_start(rig, &settle, STORE_SETTLE, (struct ask){.key = "a", .owner = "ann"});
    rig_start(rig, &late, STORE_CLAIM, (struct ask){.key = "a", .owner = "bob", .for_ms = 1000});
    rig_finish(rig, &late);
    rig_finish(rig, &settle);
    rig_finish(rig, &claim);
    assert_int_equal(claim.op.answer, STORE_CLAIMED);
    assert_int_equal(settle.op.answer, STORE_OK);
    assert_int_equal(late.op.answer, STORE_RELAYED);
}

struct chain { /* a claim, then its settlement, again and again */
    struct question question;
    struct rig *rig;
    unsigned wake, claimed, settled;
};

static void go_on(struct chain *chain)
{
    struct question *question = &chain->question;
    bool settle = question->answered && question->op.verb == STORE_CLAIM;
    char key[32];

    if (question->answered && !settle)
        chain->wake += CHAINS;
    if (chain->wake >= WAKES)
        return;
    snprintf(key, sizeof(key), "w%u", chain->wake);
    struct ask ask = {.key = key, .owner = "ann", .for_ms = LONG_MS};
    rig_start(chain->rig, question, settle ? STORE_SETTLE : STORE_CLAIM, ask);
}

/* Prints a figure, asserts none. */
static void throughput(struct rig *rig)
{
    static struct chain chains[CHAINS];
    unsigned running = CHAINS;
    uint64_t begin = uv_hrtime();

    for (unsigned i = 0; i < CHAINS; i++) {
        chains[i] = (struct chain){.rig = rig, .wake = i};
        go_on(&chains[i]);
    }
    while (running > 0) {
        rig_turn(rig);
        running = 0;
        for (unsigned i = 0; i < CHAINS; i++) {
            struct chain *chain = &chains[i];
            if (chain->question.answered && chain->wake < WAKES) {
                chain->claimed += chain->question.op.answer == STORE_CLAIMED;
                chain->settled += chain->question.op.answer == STORE_OK;
                go_on(chain);
            }
            running += chain->wake < WAKES;
        }
    }
    double seconds = (double)(uv_hrtime() - begin) / 1e9;
    unsigned claimed = 0, settled = 0;
    for (unsigned i = 0; i < CHAINS; i++) {
        claimed += chains[i].claimed;
        settled += chains[i].settled;
    }
    assert_int_equal(claimed, WAKES);
    assert_int_equal(settled, WAKES);
    print_message("%d at a time: %.0f claims and settlements a second\n", CHAINS, WAKES / seconds);
}

static void connections(struct rig *rig)
{
    struct rig others[CONNECTIONS];
    struct question *crowd = mem_new(CROWD * sizeof(*crowd));

    for (size_t i = 0; i < CONNECTIONS; i++) {
        rig_open(&others[i], rig->url, WINDOW_MS);
        snprintf(others[i].prefix, sizeof(others[i].prefix), "%s", rig->prefix);
    }
    for (size_t i = 0; i < CROWD; i++)
        start(&others[i % CONNECTIONS], crowd, i, (struct ask){.key = "a"});
    for (size_t i = 0; i < CONNECTIONS; i++)
        rig_turn(&others[i]);
    for (size_t i = 0; i < CROWD; i++)
        rig_finish(&others[i % CONNECTIONS], &crowd[i]);
    assert_int_equal(count(crowd, STORE_CLAIMED), 1);
    assert_int_equal(count(crowd, STORE_IN_FLIGHT), CROWD - 1);
    for (size_t i = 0; i < CONNECTIONS; i++)
        rig_close(&others[i]);
    free(crowd);
}

const struct store_case race_cases[] = {
    {"one of 2,000 owners gets the claim", one_key, 0},
    {"2,000 claims share one bucket", one_gate, 0},
    {"what is asked first is done first", in_order, 0},
    {"claims and settlements a second", throughput, 0},
    {0},
};

const struct store_case redis_cases[] = {
    {"one owner on several connections gets the claim", connections, 0},
    {0},
};
