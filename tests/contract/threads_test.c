/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One suite for the threads of every store: a file with one instance, a real Redis with two.
 * Without a redis-server the test says so and counts as skipped (77) when all the rest was right.
 */
#include "tests/contract/threads/rig.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gateway/core/log.h"
#include "gateway/core/metrics.h"

enum { CASES_MAX = 128, SKIPPED = 77 };

struct run {
    const struct threads_case *what;
    char name[128], url[256];
    bool two;
};

char directory[128];
static struct run runs[CASES_MAX];
static struct CMUnitTest tests[CASES_MAX];
static size_t count;

static void run(void **state)
{
    const struct run *this = *state;
    struct rig *rig = calloc(1, sizeof(*rig));

    rig_open(rig, this->url, this->two, this->what->kept_ms);
    this->what->run(rig);
    rig_close(rig);
    free(rig);
}

/* `redis` false: a file of its own for each case. */
static void add(bool redis, const struct threads_case *cases)
{
    for (; cases->name; cases++, count++) {
        struct run *added = &runs[count];
        assert_true(count < CASES_MAX);
        snprintf(added->name, sizeof(added->name), "%s: %s", redis ? "redis" : "sqlite",
                 cases->name);
        if (redis)
            snprintf(added->url, sizeof(added->url), "%s", server_url);
        else
            snprintf(added->url, sizeof(added->url), "sqlite:%s/%zu.db", directory, count);
        added->what = cases;
        added->two = redis;
        tests[count] =
            (struct CMUnitTest){.name = added->name, .test_func = run, .initial_state = added};
    }
}

static void add_all(bool redis)
{
    add(redis, history_cases);
    add(redis, follow_cases);
    add(redis, offer_cases);
    add(redis, race_cases);
    add(redis, apart_cases);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

int main(void)
{
    bool redis = server_is_installed();
    const char *parent = getenv("TMPDIR");

    signal(SIGPIPE, SIG_IGN);
    log_open(LOG_ERROR, NULL);
    snprintf(directory, sizeof(directory), "%s/wakegate-threads-%ld", parent ? parent : "/tmp",
             (long)getpid());
    if (mkdir(directory, 0755) != 0) {
        perror(directory);
        return EXIT_FAILURE;
    }
    add_all(false);
    if (redis) {
        server_start();
        add_all(true);
        add(true, redis_cases);
    }
    int failed = _cmocka_run_group_tests("threads", tests, count, NULL, NULL);
    server_stop();
    nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    metrics_free();
    if (!redis)
        fprintf(stderr, "SKIP redis: no redis-server to start; SQLite alone was tested\n");
    return failed ? EXIT_FAILURE : redis ? EXIT_SUCCESS : SKIPPED;
}
