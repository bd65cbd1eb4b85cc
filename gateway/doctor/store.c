/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of the store: ping until it answers, claim a key that no wake can have, release it, and
 * ask a Redis what it is. A file that is not there is not made, and one of an older layout is left
 * for the gateway to bring up to date.
 *
 *   pinging -> claiming -> releasing -> (asking) -> closing
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "gateway/core/clock.h"
#include "gateway/core/codec.h"
#include "gateway/core/deadline.h"
#include "gateway/core/digest.h"
#include "gateway/doctor/checks.h"
#include "gateway/store/redis_about.h"
#include "gateway/store/sqlite.h"

enum {
    READY_WITHIN_MS = 4000,
    LOOK_MS = 50,
    LEASE_MS = 10 * 1000,
    NAME_BYTES = 16,
    WARN_BYTES = 100 * 1024 * 1024,
    LEAST_BYTES = 5 * 1024 * 1024
};

struct trial {
    struct doctor *doctor;
    struct store *store;
    struct store_op op;
    struct redis_about about;
    struct deadline look; /* before the next ping */
    uint64_t until_us;
    uint64_t began_us; /* the operation */
    char key[64], owner[2 * NAME_BYTES + 1];
};

enum level room_level(uint64_t bytes)
{
    if (bytes < LEAST_BYTES)
        return LEVEL_PROBLEM;
    return bytes < WARN_BYTES ? LEVEL_WARNING : LEVEL_OK;
}

/* --- the end --- */

static void on_look_closed(struct deadline *look)
{
    struct trial *trial = CONTAINER_OF(look, struct trial, look);
    struct doctor *doctor = trial->doctor;

    free(trial);
    doctor_end(doctor);
}

static void on_store_closed(void *context)
{
    struct trial *trial = context;

    deadline_close(&trial->look, on_look_closed);
}

static void finish(struct trial *trial)
{
    store_close(trial->store, on_store_closed, trial);
}

static void fail(struct trial *trial, const char *what)
{
    findings_add(&trial->doctor->findings, LEVEL_PROBLEM, CHECK_STORE, "",
                 "%s: %s; no wake is taken while this is so", what, trial->op.err.text);
    finish(trial);
}

/* --- what a Redis is --- */

static void on_about(struct op *op)
{
    struct trial *trial = CONTAINER_OF(op, struct trial, about.op);
    struct findings *findings = &trial->doctor->findings;
    const struct redis_about *about = &trial->about;

    if (about->told)
        findings_add(findings, LEVEL_OK, CHECK_STORE, "version", "Redis %s",
                     about->version[0] ? about->version : "that does not say which");
    else
        findings_add(findings, LEVEL_WARNING, CHECK_STORE, "version",
                     "INFO is refused, so nothing is known of the server; allow it: +info");
    if (about->no_append_file)
        findings_add(findings, LEVEL_WARNING, CHECK_STORE, "persistence",
                     "the append-only file is off, so a crash of the server may forget what was "
                     "relayed; set appendonly yes");
    if (about->clock_ms > 0)
        clock_of_store(trial->doctor, about->clock_ms, about->asked_ms, about->answered_ms);
    else
        findings_add(findings, LEVEL_WARNING, CHECK_CLOCK, "store",
                     "TIME is refused; allow it: +time");
    finish(trial);
}

/* A Redis alone forgets what it was told. */
static void tell_of_redis(struct trial *trial)
{
    struct findings *findings = &trial->doctor->findings;

    if (trial->store->warning.text[0])
        findings_add(findings, LEVEL_WARNING, CHECK_STORE, "policy", "%s",
                     trial->store->warning.text);
    else
        findings_add(findings, LEVEL_OK, CHECK_STORE, "policy", "maxmemory-policy is noeviction");
    redis_about_ask(trial->store, &trial->doctor->turn, &trial->about, on_about);
}

/* --- the round trip --- */

static void on_released(struct op *op)
{
    struct trial *trial = CONTAINER_OF(op, struct trial, op.op);
    long long us = (long long)(clock_steady_us() - trial->began_us);

    if (trial->op.answer != STORE_OK) {
        fail(trial, "a claim cannot be released");
        return;
    }
    findings_add(&trial->doctor->findings, LEVEL_OK, CHECK_STORE, "",
                 "a claim and its release took %lld.%lld ms", us / 1000, us % 1000 / 100);
    if (trial->store->impl == &store_redis) {
        tell_of_redis(trial);
        return;
    }
    findings_add(&trial->doctor->findings, LEVEL_OK, CHECK_CLOCK, "store", "is this machine's");
    finish(trial);
}

static void on_claimed(struct op *op)
{
    struct trial *trial = CONTAINER_OF(op, struct trial, op.op);

    if (trial->op.answer != STORE_CLAIMED) {
        fail(trial, "nothing can be claimed");
        return;
    }
    store_release(trial->store, &trial->op, on_released);
}

static void claim(struct trial *trial)
{
    trial->began_us = clock_steady_us();
    trial->op = (struct store_op){
        .key = slice_from(trial->key), .owner = slice_from(trial->owner), .for_ms = LEASE_MS};
    store_claim(trial->store, &trial->op, on_claimed);
}

static void on_pinged(struct op *op)
{
    struct trial *trial = CONTAINER_OF(op, struct trial, op.op);

    if (trial->op.answer == STORE_OK)
        claim(trial);
    else if (clock_steady_us() < trial->until_us)
        deadline_set(&trial->look, LOOK_MS);
    else
        fail(trial, "it does not work");
}

static void on_look(struct deadline *look)
{
    struct trial *trial = CONTAINER_OF(look, struct trial, look);

    trial->op = (struct store_op){0};
    store_ping(trial->store, &trial->op, on_pinged);
}

/* The name of a route has no dot, so no wake has this key. */
static void name_key(struct trial *trial)
{
    unsigned char bytes[NAME_BYTES];

    random_bytes(bytes, sizeof(bytes));
    hex_encode(bytes, sizeof(bytes), trial->owner);
    snprintf(trial->key, sizeof(trial->key), ".check/live/%s", trial->owner);
}

static void try_store(struct doctor *doctor)
{
    const struct config *config = doctor->config;
    struct store *store = NULL;
    struct err err = {0};

    if (!store_open(slice_from(config->store), config->window_ms, &doctor->turn, &store, &err)) {
        if (strstr(err.text, SQLITE_IN_USE))
            findings_add(&doctor->findings, LEVEL_OK, CHECK_STORE, "",
                         "a gateway that runs has the file, so nothing was tried on it; its "
                         "/readyz says whether it works");
        else
            findings_add(&doctor->findings, LEVEL_PROBLEM, CHECK_STORE, "",
                         "cannot be opened: %s; the gateway would not start", err.text);
        return;
    }
    struct trial *trial = mem_new(sizeof(*trial));
    trial->doctor = doctor;
    trial->store = store;
    trial->until_us = clock_steady_us() + READY_WITHIN_MS * UINT64_C(1000);
    name_key(trial);
    deadline_open(&trial->look, &doctor->loop, on_look);
    doctor_begin(doctor);
    on_look(&trial->look);
}

/* --- a file --- */

static void look_at_room(struct doctor *doctor, const char *path)
{
    char *directory = mem_text(slice_from(path)), *slash = strrchr(directory, '/');
    struct statvfs disk;

    if (slash)
        slash[slash == directory ? 1 : 0] = '\0';
    if (statvfs(slash ? directory : ".", &disk) == 0) {
        uint64_t bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
        enum level level = room_level(bytes);
        findings_add(&doctor->findings, level, CHECK_STORE, "room", "%llu MiB are free%s",
                     (unsigned long long)(bytes >> 20),
                     level == LEVEL_OK ? "" : "; make room, a full disk refuses every wake");
    }
    free(directory);
}

/* true: it can be opened without anything being made or changed. */
static bool may_open(struct doctor *doctor, struct slice path)
{
    int layout = 0;

    if (!sqlite_peek(path.data, &layout)) {
        findings_add(&doctor->findings, LEVEL_OK, CHECK_STORE, "",
                     "there is no file yet; the gateway makes it when it starts");
        return false;
    }
    if (layout > 0 && layout < SQL_LAYOUT) {
        findings_add(&doctor->findings, LEVEL_WARNING, CHECK_STORE, "",
                     "the file has layout %d, and the gateway brings it to %d when it starts; copy "
                     "it first, since an older version cannot read it then",
                     layout, SQL_LAYOUT);
        return false;
    }
    return true;
}

void check_store(struct doctor *doctor)
{
    struct slice scheme, path;

    slice_cut(slice_from(doctor->config->store), ':', &scheme, &path);
    if (store_find(slice_from(doctor->config->store), NULL) == &store_sqlite) {
        look_at_room(doctor, path.data);
        if (!may_open(doctor, path))
            return;
    }
    try_store(doctor);
}
