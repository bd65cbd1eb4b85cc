/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gateway/core/op.h"
#include "gateway/net/poll_set.h"
#include "tests/check.h"

struct end { /* one of a pair of sockets, watched */
    int fd, other;
    unsigned calls, events;
    struct end *closes; /* when it is called */
};

struct rig {
    uv_loop_t loop;
    struct poll_set set;
    bool closed;
};

static void drop(struct rig *rig, struct end *end)
{
    if (end->fd < 0)
        return;
    poll_set_remove(&rig->set, end->fd);
    close(end->fd);
    close(end->other);
    end->fd = -1;
}

static struct rig *called_in;

static void on_ready(void *item, unsigned events)
{
    struct end *end = item;

    end->calls++;
    end->events = events;
    if (end->closes)
        drop(called_in, end->closes);
}

static int set_up(void **state)
{
    struct rig *rig = calloc(1, sizeof(*rig));

    uv_loop_init(&rig->loop);
    poll_set_open(&rig->set, &rig->loop, on_ready);
    *state = called_in = rig;
    return 0;
}

static void on_closed(struct poll_set *set)
{
    CONTAINER_OF(set, struct rig, set)->closed = true;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;

    poll_set_close(&rig->set, on_closed);
    uv_run(&rig->loop, UV_RUN_DEFAULT);
    assert_true(rig->closed);
    assert_int_equal(uv_loop_close(&rig->loop), 0);
    free(rig);
    return 0;
}

static struct end open_end(void)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    return (struct end){.fd = fds[0], .other = fds[1]};
}

static void run(struct rig *rig)
{
    uv_run(&rig->loop, UV_RUN_NOWAIT);
}

static void tells_what_is_ready_until_it_is_not(void **state)
{
    struct rig *rig = *state;
    struct end end = open_end();
    char byte;

    assert_true(poll_set_add(&rig->set, end.fd, POLL_SET_READABLE, &end));
    run(rig);
    assert_int_equal(end.calls, 0);
    assert_int_equal(write(end.other, "x", 1), 1);
    run(rig);
    run(rig);
    assert_int_equal(end.calls, 2);
    assert_int_equal(end.events, POLL_SET_READABLE);
    assert_int_equal(read(end.fd, &byte, 1), 1);
    run(rig);
    assert_int_equal(end.calls, 2);
    drop(rig, &end);
}

static void tells_of_writing_only_when_asked(void **state)
{
    struct rig *rig = *state;
    struct end end = open_end();

    assert_true(poll_set_add(&rig->set, end.fd, POLL_SET_READABLE, &end));
    poll_set_change(&rig->set, end.fd, POLL_SET_READABLE | POLL_SET_WRITABLE, &end);
    run(rig);
    assert_int_equal(end.calls, 1);
    assert_int_equal(end.events, POLL_SET_WRITABLE);
    poll_set_change(&rig->set, end.fd, POLL_SET_READABLE, &end);
    run(rig);
    assert_int_equal(end.calls, 1);
    drop(rig, &end);
}

static void a_peer_that_is_gone_makes_it_ready_for_both(void **state)
{
    struct rig *rig = *state;
    struct end end = open_end();

    assert_true(poll_set_add(&rig->set, end.fd, 0, &end));
    close(end.other);
    run(rig);
    assert_int_equal(end.events, POLL_SET_READABLE | POLL_SET_WRITABLE);
    end.other = dup(end.fd);
    drop(rig, &end);
}

/* Both are ready in one turn; whichever comes first removes the other. What still comes for it
 * finds its item, and in the next turn nothing comes, though a duplicate keeps its socket. */
static void what_was_removed_is_not_heard_of_in_the_next_turn(void **state)
{
    struct rig *rig = *state;
    struct end one = open_end(), two = open_end();
    int kept[] = {dup(one.fd), dup(two.fd)};

    one.closes = &two;
    two.closes = &one;
    assert_true(poll_set_add(&rig->set, one.fd, POLL_SET_WRITABLE, &one));
    assert_true(poll_set_add(&rig->set, two.fd, POLL_SET_WRITABLE, &two));
    run(rig);
    assert_int_equal(one.calls + two.calls, 2);
    run(rig);
    assert_int_equal(one.calls + two.calls, 2);
    close(kept[0]);
    close(kept[1]);
}

static void a_descriptor_that_cannot_be_watched_is_refused(void **state)
{
    struct rig *rig = *state;

    assert_false(poll_set_add(&rig->set, -1, POLL_SET_READABLE, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tells_what_is_ready_until_it_is_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tells_of_writing_only_when_asked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_peer_that_is_gone_makes_it_ready_for_both, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_was_removed_is_not_heard_of_in_the_next_turn, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_descriptor_that_cannot_be_watched_is_refused, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
