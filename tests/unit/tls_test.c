/* SPDX-License-Identifier: Apache-2.0 */
/* A server's session against a client's, in memory: no socket, no loop. */
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gateway/net/tls.h"
#include "tests/fakes/pem.h"

enum { RECORD_VERSION = 2 };

static struct certificate *certificate;

struct scene {
    struct tls *server, *client;
    struct err err;
};

static struct scene begin(void)
{
    return (struct scene){.server = tls_server_new(certificate), .client = tls_probe_new()};
}

static void end(struct scene *scene)
{
    tls_free(scene->server);
    tls_free(scene->client);
}

/* Feeds what `from` has to say to `to`, `step` bytes at a time, calling tls_shake after each. */
static enum tls_answer carry(struct tls *from, struct tls *to, size_t step, struct err *err)
{
    struct slice output = tls_output(from);
    enum tls_answer answer = TLS_MORE;
    size_t len = output.len;

    while (output.len > 0) {
        tls_feed(to, slice_first(output, step));
        output = slice_from_at(output, step);
        answer = tls_shake(to, err);
    }
    tls_taken(from, len);
    return answer;
}

static void shake(struct scene *scene, size_t step)
{
    assert_int_equal(tls_shake(scene->client, &scene->err), TLS_MORE);
    assert_int_equal(carry(scene->client, scene->server, step, &scene->err), TLS_MORE);
    assert_int_equal(carry(scene->server, scene->client, step, &scene->err), TLS_DONE);
    assert_int_equal(carry(scene->client, scene->server, step, &scene->err), TLS_DONE);
}

/* What `from` has to say, as `to` understands it. */
static enum tls_answer hear(struct tls *from, struct tls *to, struct buf *heard)
{
    struct slice output = tls_output(from);
    enum tls_answer answer = TLS_DONE;
    struct err err = {""};

    tls_feed(to, output);
    tls_taken(from, output.len);
    while (answer == TLS_DONE) {
        size_t len = 0;
        char *room = buf_reserve(heard, 4096);
        assert_non_null(room);
        answer = tls_read(to, room, 4096, &len, &err);
        heard->len += len;
    }
    return answer;
}

static void assert_says(struct tls *from, struct tls *to, struct slice text)
{
    struct buf heard = BUF_INIT(1024 * 1024);
    struct err err;

    assert_true(tls_write(from, text, &err));
    assert_int_equal(hear(from, to, &heard), TLS_MORE);
    assert_int_equal(heard.len, text.len);
    assert_memory_equal(heard.data, text.data, text.len);
    buf_release(&heard);
}

static void test_both_ways(void **state)
{
    static char much[300000];
    const size_t steps[] = {1, 7, 100000};

    (void)state;
    memset(much, 'x', sizeof(much));
    for (size_t i = 0; i < 3; i++) {
        struct scene scene = begin();
        shake(&scene, steps[i]);
        assert_says(scene.client, scene.server, SLICE("a question"));
        assert_says(scene.server, scene.client, SLICE("an answer"));
        assert_says(scene.client, scene.server, (struct slice){much, sizeof(much)});
        assert_says(scene.server, scene.client, (struct slice){much, sizeof(much)});
        end(&scene);
    }
}

static void test_a_client_that_verifies(void **state)
{
    struct buf pem = pem_make(PEM_EC, "");
    struct err err = {""};
    char file[] = "/tmp/tls_test."
                  "XX"
                  "XX"
                  "XX";
    int fd = mkstemp(file);
    const struct tls_files files = {.ca_file = file};

    (void)state;
    assert_int_equal(write(fd, pem.data, pem.len), pem.len);
    close(fd);
    struct certificate *own = certificate_new(buf_slice(&pem), buf_slice(&pem), false, &err);
    assert_non_null(own);
    struct scene scene = {.server = tls_server_new(own),
                          .client = tls_client_new("localhost", &files, &err)};
    shake(&scene, 1000);
    certificate_drop(own); /* the session keeps what it needs */
    assert_says(scene.client, scene.server, SLICE("a question"));
    end(&scene);

    scene = (struct scene){.server = tls_server_new(certificate),
                           .client = tls_client_new("localhost", &files, &err)};
    tls_shake(scene.client, &err);
    carry(scene.client, scene.server, 1000, &err);
    assert_int_equal(carry(scene.server, scene.client, 100000, &err), TLS_FAILED);
    assert_int_equal(carry(scene.client, scene.server, 1000, &err), TLS_FAILED);
    assert_string_equal(tls_fault(scene.server), "refused");
    end(&scene);
    unlink(file);
    buf_release(&pem);
}

static void test_one_side_ends_first(void **state)
{
    struct scene scene = begin();
    struct buf heard = BUF_INIT(100000);

    (void)state;
    shake(&scene, 1000);
    tls_end(scene.client);
    assert_int_equal(hear(scene.client, scene.server, &heard), TLS_ENDED);
    assert_says(scene.server, scene.client, SLICE("still here"));
    tls_end(scene.server);
    assert_int_equal(hear(scene.server, scene.client, &heard), TLS_ENDED);
    assert_int_equal(heard.len, 0);
    buf_release(&heard);
    end(&scene);
}

static void test_output_taken_in_parts(void **state)
{
    struct scene scene = begin();
    struct buf heard = BUF_INIT(100000);
    struct err err;

    (void)state;
    shake(&scene, 1000);
    assert_true(tls_write(scene.server, SLICE("in parts"), &err));
    for (size_t left = tls_output(scene.server).len; left > 0; left--) {
        assert_int_equal(tls_output(scene.server).len, left);
        tls_feed(scene.client, slice_first(tls_output(scene.server), 1));
        tls_taken(scene.server, 1);
    }
    assert_int_equal(tls_output(scene.server).len, 0);
    assert_int_equal(hear(scene.server, scene.client, &heard), TLS_MORE);
    assert_true(slice_eq(buf_slice(&heard), SLICE("in parts")));
    buf_release(&heard);
    end(&scene);
}

static void test_no_hello(void **state)
{
    static const struct {
        struct slice bytes;
        const char *fault;
    } rows[] = {
        {SLICE("GET / HTTP/1.1\r\n\r\n"), "plain_http"},
        {SLICE("OPTIONS * HTTP/1.1\r\n\r\n"), "plain_http"},
        {SLICE("PRI * HTTP/2.0\r\n\r\n"), "plain_http"},
        {SLICE("\0\0\0\0\0\0\0\0\0\0"), "not_tls"},
        {SLICE("\xff\xff\xff\xff\xff\xff\xff\xff\xff"), "not_tls"},
        {SLICE("\x80\x2e\x01\x03\x01\x00\x15\x00\x00\x00\x10"), "not_tls"}, /* SSL 2 */
        {SLICE("\x15\x03\x01\x00\x02\x01\x00\x00\x00"), "not_tls"},         /* an alert */
        {SLICE("\x16\x02\x01\x00\x40\x01\x00\x00\x3c"), "not_tls"},
        {SLICE("\x16\x03\x01\x00\x40\x02\x00\x00\x3c"), "not_tls"},   /* a ServerHello */
        {SLICE("\x16\x03\x01\x00\x40\x01\x00\x40\x01"), "malformed"}, /* over 16 KB */
        {SLICE("\x16\x03\x01\x00\x40\x01\xff\xff\xff"), "malformed"},
        {SLICE("\x16\x03\x01\x00\x01\x01\x00\x00\x3c"), "malformed"}, /* in shreds */
        {SLICE("\x16\x03\x01\xff\xff\x01\x00\x00\x3c"), "malformed"}, /* no record is so long */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t step = 1; step < 100; step += 98) {
            struct tls *server = tls_server_new(certificate);
            enum tls_answer answer = tls_shake(server, &(struct err){""});
            struct slice left = rows[i].bytes;
            struct err err = {""};
            assert_int_equal(answer, TLS_MORE);
            while (left.len > 0 && answer == TLS_MORE) {
                tls_feed(server, slice_first(left, step));
                left = slice_from_at(left, step);
                answer = tls_shake(server, &err);
            }
            assert_int_equal(answer, TLS_FAILED);
            assert_string_equal(tls_fault(server), rows[i].fault);
            assert_true(err.text[0] != '\0');
            tls_free(server);
        }
    }
}

/* Each byte of a flight, spoiled: nothing but an error or waiting may come of it. */
static void spoil(unsigned flight)
{
    size_t at = 0, len = 1;

    for (; at < len; at++) {
        struct scene scene = begin();
        enum tls_answer answer = TLS_MORE;
        tls_shake(scene.client, &scene.err);
        for (unsigned i = 0; i < flight; i++) {
            carry(scene.client, scene.server, 100000, &scene.err);
            carry(scene.server, scene.client, 100000, &scene.err);
        }
        struct slice output = tls_output(scene.client);
        struct buf spoiled = BUF_INIT(100000);
        len = output.len;
        assert_true(len > 0);
        buf_append(&spoiled, output);
        spoiled.data[at] ^= (char)(1 << at % 8);
        tls_feed(scene.server, buf_slice(&spoiled));
        answer = tls_shake(scene.server, &scene.err);
        assert_true(flight == 0 || answer != TLS_DONE);
        assert_true(answer != TLS_FAILED || tls_fault(scene.server));
        /* Of the ClientHello much is free to be otherwise, but then the client notices; only the
         * record's version counts for nothing. */
        if (answer == TLS_MORE && flight == 0 && at != RECORD_VERSION)
            assert_int_not_equal(carry(scene.server, scene.client, 100000, &scene.err), TLS_DONE);
        buf_release(&spoiled);
        end(&scene);
    }
}

static void test_spoiled_hello(void **state)
{
    (void)state;
    spoil(0);
}

static void test_spoiled_end_of_the_handshake(void **state)
{
    (void)state;
    spoil(1);
}

static void test_spoiled_record(void **state)
{
    struct scene scene = begin();
    struct buf heard = BUF_INIT(100000), spoiled = BUF_INIT(1000);
    struct err err = {""};

    (void)state;
    shake(&scene, 1000);
    assert_true(tls_write(scene.client, SLICE("a question"), &err));
    buf_append(&spoiled, tls_output(scene.client));
    spoiled.data[spoiled.len - 1] ^= 1;
    tls_feed(scene.server, buf_slice(&spoiled));
    assert_int_equal(hear(scene.client, scene.server, &heard), TLS_FAILED);
    assert_int_equal(heard.len, 0);
    assert_true(tls_output(scene.server).len > 0); /* an alert */
    buf_release(&spoiled);
    buf_release(&heard);
    end(&scene);
}

static int set_up(void **state)
{
    (void)state;
    certificate = pem_certificate(PEM_EC);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    certificate_drop(certificate);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_a_client_that_verifies),
        cmocka_unit_test(test_one_side_ends_first),
        cmocka_unit_test(test_output_taken_in_parts),
        cmocka_unit_test(test_no_hello),
        cmocka_unit_test(test_spoiled_hello),
        cmocka_unit_test(test_spoiled_end_of_the_handshake),
        cmocka_unit_test(test_spoiled_record),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
