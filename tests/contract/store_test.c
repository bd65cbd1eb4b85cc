/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One suite for every store. SQLite runs always; Redis where a redis-server can be started, else
 * the test says so and counts as skipped (77) when all the rest was right.
 */
#include "tests/contract/store/rig.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gateway/core/log.h"
#include "gateway/core/metrics.h"

enum { CASES_MAX = 128, SKIPPED = 77 };

struct run {
    const struct store_case *what;
    const char *url;
    char name[128];
};

static char directory[128];
static struct run runs[CASES_MAX];
static struct CMUnitTest tests[CASES_MAX];
static size_t count;

static void run(void **state)
{
    const struct run *this = *state;
    struct rig rig;

    rig_open(&rig, this->url, this->what->window_ms ? this->what->window_ms : WINDOW_MS);
    this->what->run(&rig);
    rig_close(&rig);
}

/* `url` NULL: a file of its own for each case. */
static void add(const char *store, const char *url, const struct store_case *cases)
{
    for (; cases->name; cases++, count++) {
        char file[256];
        assert_true(count < CASES_MAX);
        snprintf(runs[count].name, sizeof(runs[count].name), "%s: %s", store, cases->name);
        snprintf(file, sizeof(file), "sqlite:%s/%zu.db", directory, count);
        runs[count].what = cases;
        runs[count].url = url ? url : strdup(file);
        tests[count] = (struct CMUnitTest){
            .name = runs[count].name,
            .test_func = run,
            .initial_state = &runs[count],
        };
    }
}

static int delete (const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "child") == 0)
        return sqlite_child(argv[2], argv[3]);
    log_open(LOG_ERROR, NULL);
    const char *parent = getenv("TMPDIR");
    snprintf(directory, sizeof(directory), "%s/wakegate-store-%ld", parent ? parent : "/tmp",
             (long)getpid());
    if (mkdir(directory, 0755) != 0) {
        perror(directory);
        return EXIT_FAILURE;
    }
    add("sqlite", NULL, claim_cases);
    add("sqlite", NULL, gate_cases);
    add("sqlite", NULL, race_cases);
    add("sqlite", NULL, sqlite_cases);
    const char *redis = redis_server_start(directory);
    if (redis) {
        add("redis", redis, claim_cases);
        add("redis", redis, gate_cases);
        add("redis", redis, race_cases);
        add("redis", redis, redis_cases);
    }
    int failed = _cmocka_run_group_tests("store", tests, count, NULL, NULL);
    redis_server_stop();
    nftw(directory, delete, 8, FTW_DEPTH | FTW_PHYS);
    for (size_t i = 0; i < count; i++)
        if (runs[i].url != redis)
            free((char *)(uintptr_t)runs[i].url);
    metrics_free();
    if (!redis)
        fprintf(stderr, "SKIP redis: no redis-server to start; SQLite alone was tested\n");
    return failed ? EXIT_FAILURE : redis ? EXIT_SUCCESS : SKIPPED;
}
