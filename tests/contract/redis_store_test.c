/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Redis store in trouble: real servers and false ones. What it does with a healthy server
 * stands in the suite for every store.
 */
#include "tests/contract/redis_store/rig.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gateway/core/metrics.h"

enum { SKIPPED = 77 };

static int delete (const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

static int run(const char *name, const struct CMUnitTest *tests, size_t count)
{
    return _cmocka_run_group_tests(name, tests, count, NULL, NULL);
}

int main(void)
{
    int failed = 0;

    signal(SIGPIPE, SIG_IGN);
    if (!server_is_installed()) {
        fprintf(stderr, "SKIP: no redis-server to start; the Redis store was not tested\n");
        return SKIPPED;
    }
    snprintf(directory, sizeof(directory), "/tmp/wakegate-redis-%ld", (long)getpid());
    if (mkdir(directory, 0700) != 0) {
        perror(directory);
        return EXIT_FAILURE;
    }
    failed += run("fault", fault_cases, fault_case_count);
    failed += run("fake", fake_cases, fake_case_count);
    failed += run("tls", tls_cases, tls_case_count);
    nftw(directory, delete, 8, FTW_DEPTH | FTW_PHYS);
    metrics_free();
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
