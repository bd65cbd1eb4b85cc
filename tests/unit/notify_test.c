/* SPDX-License-Identifier: Apache-2.0 */
/* Against a datagram socket of the test's own, at a path and at an abstract name. */
#include "tests/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gateway/core/clock.h"
#include "gateway/notify.h"

struct bench {
    uv_loop_t loop;
    struct notify notify;
    int manager;
    char directory[32], path[64], got[512];
};

static int set_up(void **state)
{
    static struct bench bench;

    bench = (struct bench){.manager = -1, .directory = "/tmp/wakegate-notify-XXXXXX"};
    assert_non_null(mkdtemp(bench.directory));
    snprintf(bench.path, sizeof(bench.path), "%s/socket", bench.directory);
    uv_loop_init(&bench.loop);
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    *state = &bench;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *bench = *state;

    notify_close(&bench->notify);
    uv_run(&bench->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&bench->loop), 0);
    if (bench->manager >= 0)
        close(bench->manager);
    unlink(bench->path);
    rmdir(bench->directory);
    return 0;
}

/* Listens at `address`, "@" for NUL, as the service manager does. */
static void manage(struct bench *bench, const char *address)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    size_t len = strlen(address);

    memcpy(name.sun_path, address, len);
    if (address[0] == '@')
        name.sun_path[0] = '\0';
    bench->manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(bench->manager, (struct sockaddr *)&name,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
                     0);
    setenv("NOTIFY_SOCKET", address, 1);
}

/* The next message, or "" when there is none. */
static const char *heard(struct bench *bench)
{
    ssize_t len = recv(bench->manager, bench->got, sizeof(bench->got) - 1, MSG_DONTWAIT);

    bench->got[len > 0 ? len : 0] = '\0';
    return bench->got;
}

static void tells_states_at_a_path(void **state)
{
    struct bench *bench = *state;
    unsigned long long at = 0;
    uint64_t before = clock_steady_us();

    manage(bench, bench->path);
    notify_open(&bench->notify, &bench->loop);
    assert_string_equal(heard(bench), "");
    notify_ready(&bench->notify);
    assert_string_equal(heard(bench), "READY=1");
    notify_reloading(&bench->notify);
    const char *prefix = "RELOADING=1\nMONOTONIC_USEC=";
    assert_memory_equal(heard(bench), prefix, strlen(prefix));
    at = strtoull(bench->got + strlen(prefix), NULL, 10);
    assert_in_range(at, before, clock_steady_us());
    notify_stopping(&bench->notify, 22000);
    assert_string_equal(heard(bench), "STOPPING=1\nEXTEND_TIMEOUT_USEC=32000000");
    assert_string_equal(heard(bench), "");
}

static void tells_states_at_an_abstract_name(void **state)
{
    struct bench *bench = *state;
    char name[80];

    snprintf(name, sizeof(name), "@%s", bench->path);
    manage(bench, name);
    notify_open(&bench->notify, &bench->loop);
    notify_ready(&bench->notify);
    assert_string_equal(heard(bench), "READY=1");
}

static void gives_signs_of_life_while_the_loop_turns(void **state)
{
    struct bench *bench = *state;
    char self[32];

    manage(bench, bench->path);
    setenv("WATCHDOG_USEC", "20000", 1);
    snprintf(self, sizeof(self), "%ld", (long)getpid());
    setenv("WATCHDOG_PID", self, 1);
    notify_open(&bench->notify, &bench->loop);
    assert_int_equal(bench->notify.every_ms, 10);
    assert_string_equal(heard(bench), "");
    for (unsigned i = 0; i < 3; i++) {
        uv_run(&bench->loop, UV_RUN_ONCE);
        assert_string_equal(heard(bench), "WATCHDOG=1");
    }
}

static void minds_its_own_watchdog_only(void **state)
{
    struct bench *bench = *state;
    static const struct {
        const char *usec, *pid;
    } cases[] = {{NULL, NULL}, {"20000", "1"}, {"0", NULL},    {"", NULL},
                 {"x", NULL},  {"-1", NULL},   {"20000", "x"}, {"99999999999999999999", NULL}};

    manage(bench, bench->path);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsetenv("WATCHDOG_USEC");
        unsetenv("WATCHDOG_PID");
        if (cases[i].usec)
            setenv("WATCHDOG_USEC", cases[i].usec, 1);
        if (cases[i].pid)
            setenv("WATCHDOG_PID", cases[i].pid, 1);
        notify_open(&bench->notify, &bench->loop);
        assert_int_equal(bench->notify.every_ms, 0);
        assert_false(uv_is_active((uv_handle_t *)&bench->notify.signal.timer));
        notify_close(&bench->notify);
        uv_run(&bench->loop, UV_RUN_DEFAULT);
    }
    setenv("WATCHDOG_USEC", "1", 1);
    unsetenv("WATCHDOG_PID");
    notify_open(&bench->notify, &bench->loop);
    assert_int_equal(bench->notify.every_ms, 1);
}

/* Nobody there, nobody asked for, no address: nothing happens. */
static void lives_without_a_manager(void **state)
{
    struct bench *bench = *state;
    char too_long[300];
    const char *addresses[] = {NULL,         "",          "/",      "@",
                               "run/socket", "vsock:2:1", too_long, bench->path};

    memset(too_long, 'a', sizeof(too_long) - 1);
    too_long[0] = '/';
    too_long[sizeof(too_long) - 1] = '\0';
    setenv("WATCHDOG_USEC", "20000", 1);
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        unsetenv("NOTIFY_SOCKET");
        if (addresses[i])
            setenv("NOTIFY_SOCKET", addresses[i], 1);
        notify_open(&bench->notify, &bench->loop);
        notify_ready(&bench->notify);
        notify_reloading(&bench->notify);
        notify_stopping(&bench->notify, 0);
        assert_int_equal(bench->notify.fd >= 0, addresses[i] == bench->path);
        if (i + 1 == sizeof(addresses) / sizeof(addresses[0]))
            break; /* tear_down closes it */
        notify_close(&bench->notify);
        uv_run(&bench->loop, UV_RUN_DEFAULT);
    }
}

static size_t send_all_that_fits(struct bench *bench)
{
    const struct sockaddr *manager = (const struct sockaddr *)&bench->notify.manager;
    int sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    size_t count = 0;

    assert_true(sender >= 0);
    while (sendto(sender, "x", 1, MSG_DONTWAIT, manager, bench->notify.manager_len) == 1)
        count++;
    assert_int_equal(errno, EAGAIN);
    close(sender);
    return count;
}

/* One sender may have less room of its own than the manager's queue. */
static void fill_queue(struct bench *bench)
{
    while (send_all_that_fits(bench) > 0)
        continue;
}

/* A manager that reads nothing: a sign of life is dropped at once, and the loop goes on. */
static void a_full_queue_stops_nothing(void **state)
{
    struct bench *bench = *state;

    manage(bench, bench->path);
    setenv("WATCHDOG_USEC", "2000", 1);
    notify_open(&bench->notify, &bench->loop);
    fill_queue(bench);
    uv_run(&bench->loop, UV_RUN_ONCE);
    uv_run(&bench->loop, UV_RUN_ONCE);
    while (heard(bench)[0] == 'x')
        continue;
    assert_string_equal(bench->got, "");
    uv_run(&bench->loop, UV_RUN_ONCE);
    assert_string_equal(heard(bench), "WATCHDOG=1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tells_states_at_a_path, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tells_states_at_an_abstract_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gives_signs_of_life_while_the_loop_turns, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(minds_its_own_watchdog_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lives_without_a_manager, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_queue_stops_nothing, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
