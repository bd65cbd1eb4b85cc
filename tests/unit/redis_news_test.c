/* SPDX-License-Identifier: Apache-2.0 */
/* What the log is told, read back from standard error. */
#include "tests/check.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "gateway/core/log.h"
#include "gateway/store/redis_news.h"

static int pipe_out, kept_stderr;
static const struct redis_fault full = {.kind = 3}, other = {.kind = 40};

static int listen_to_log(void **state)
{
    int ends[2];

    (void)state;
    kept_stderr = dup(STDERR_FILENO);
    if (pipe2(ends, O_NONBLOCK) != 0 || dup2(ends[1], STDERR_FILENO) < 0)
        return -1;
    close(ends[1]);
    pipe_out = ends[0];
    log_open(LOG_INFO, NULL);
    return 0;
}

static int leave_log(void **state)
{
    (void)state;
    log_close();
    dup2(kept_stderr, STDERR_FILENO);
    close(kept_stderr);
    close(pipe_out);
    return 0;
}

/* What was logged since the last call has `text`; NULL: nothing was. */
static void expect(const char *text)
{
    char lines[4096];
    ssize_t len = read(pipe_out, lines, sizeof(lines) - 1);

    lines[len > 0 ? len : 0] = '\0';
    if (text ? !strstr(lines, text) : len > 0)
        fail_msg("\"%s\" was logged, not \"%s\"", lines, text ? text : "");
}

static void down(struct redis_news *news, const char *text)
{
    struct err why;

    err_set(&why, "%s", text);
    redis_news_down(news, &why);
}

static void refuse(struct redis_news *news, const struct redis_fault *fault, uint64_t now)
{
    static const struct err why = {"full (OOM)"};

    redis_news_refused(news, fault, &why, SLICE("wakegate:1:x"), now);
}

static void test_each_change_once(void **state)
{
    struct redis_news news = {.place = "h:1", .name = ""};

    (void)state;
    redis_news_ready(&news);
    expect("\"store_up\"");
    down(&news, "refused");
    expect("Redis at h:1: refused");
    down(&news, "refused");
    expect(NULL);
    down(&news, "too late");
    expect("too late");
    redis_news_ready(&news);
    expect("\"store_up\"");
    down(&news, "too late");
    expect("too late");
}

static void test_refusals(void **state)
{
    struct redis_news news = {.place = "h:1", .name = ""};
    uint64_t now = 1000;

    (void)state;
    redis_news_answered(&news, now);
    expect(NULL);
    refuse(&news, &full, now);
    expect("full (OOM)\",\"key\":\"wakegate:1:x\"");
    for (int i = 0; i < 100; i++) {
        refuse(&news, &full, now += 10);
        redis_news_answered(&news, now); /* a duplicate, say */
    }
    expect(NULL);
    refuse(&news, &other, now);
    expect("store_refuses");
    redis_news_answered(&news, now + REDIS_CALM_MS - 1);
    expect(NULL);
    redis_news_answered(&news, now + REDIS_CALM_MS);
    expect("store_up");
    redis_news_answered(&news, now + REDIS_CALM_MS);
    expect(NULL);
    refuse(&news, &full, now);
    expect("store_refuses");
}

static void test_up_only_to_refuse(void **state)
{
    struct redis_news news = {.place = "h:1", .name = " (to follow)"};

    (void)state;
    redis_news_ready(&news);
    expect("store_up");
    for (int i = 0; i < 10; i++) {
        news.refuses = true;
        down(&news, "no right");
        expect(i == 0 ? "Redis at h:1 (to follow): no right" : NULL);
        redis_news_ready(&news);
        expect(NULL);
    }
    redis_news_answered(&news, 0);
    expect("store_up");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_change_once, listen_to_log, leave_log),
        cmocka_unit_test_setup_teardown(test_refusals, listen_to_log, leave_log),
        cmocka_unit_test_setup_teardown(test_up_only_to_refuse, listen_to_log, leave_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
