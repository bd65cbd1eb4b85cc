/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines of a loop that runs, and of one that did not run for a while. */
#include "tests/check.h"

#include <string.h>
#include <unistd.h>

#include "gateway/core/deadline.h"
#include "gateway/core/op.h"

enum { STALL_US = 250 * 1000 };

static struct scene {
    uv_loop_t loop;
    struct deadline deadline;
    uv_poll_t poll;
    int pipe[2];
    bool clears; /* what comes through the pipe clears the deadline */
    char order[8];
} scene;

static void note(char what)
{
    size_t length = strlen(scene.order);

    assert_true(length + 1 < sizeof(scene.order));
    scene.order[length] = what;
}

static void on_due(struct deadline *deadline)
{
    assert_ptr_equal(deadline, &scene.deadline);
    note('d');
}

static void on_came(uv_poll_t *poll, int status, int events)
{
    char byte;

    (void)events;
    assert_int_equal(status, 0);
    assert_int_equal(read(scene.pipe[0], &byte, 1), 1);
    uv_poll_stop(poll);
    note('p');
    if (scene.clears)
        deadline_clear(&scene.deadline);
}

static int set_up(void **state)
{
    (void)state;
    scene = (struct scene){0};
    uv_loop_init(&scene.loop);
    assert_int_equal(pipe(scene.pipe), 0);
    deadline_open(&scene.deadline, &scene.loop, on_due);
    uv_poll_init(&scene.loop, &scene.poll, scene.pipe[0]);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    deadline_close(&scene.deadline, NULL);
    uv_close((uv_handle_t *)&scene.poll, NULL);
    uv_run(&scene.loop, UV_RUN_DEFAULT);
    close(scene.pipe[0]);
    close(scene.pipe[1]);
    return uv_loop_close(&scene.loop);
}

static void stall_while_something_comes(void)
{
    uv_poll_start(&scene.poll, UV_READABLE, on_came);
    deadline_set(&scene.deadline, 1);
    assert_int_equal(write(scene.pipe[1], "x", 1), 1);
    usleep(STALL_US);
    uv_run(&scene.loop, UV_RUN_DEFAULT);
}

static void comes_due(void **state)
{
    (void)state;
    deadline_set(&scene.deadline, 1);
    uv_run(&scene.loop, UV_RUN_DEFAULT);
    assert_string_equal(scene.order, "d");
}

static void what_came_meanwhile_is_first(void **state)
{
    (void)state;
    stall_while_something_comes();
    assert_string_equal(scene.order, "pd");
}

static void what_came_meanwhile_may_clear_it(void **state)
{
    (void)state;
    scene.clears = true;
    stall_while_something_comes();
    assert_string_equal(scene.order, "p");
}

static void late_ones_come_once_each(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        deadline_set(&scene.deadline, 1);
        usleep(STALL_US);
        uv_run(&scene.loop, UV_RUN_DEFAULT);
    }
    assert_string_equal(scene.order, "dd");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(comes_due),
        CASE(what_came_meanwhile_is_first),
        CASE(what_came_meanwhile_may_clear_it),
        CASE(late_ones_come_once_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
