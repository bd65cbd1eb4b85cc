/* SPDX-License-Identifier: Apache-2.0 */
/* A server that speaks TLS, with certificates made for this run. */
#include "tests/contract/redis_store/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gateway/core/buf.h"
#include "gateway/store/store_address.h"

enum { ARGS = 24 };

/* Runs openssl in the directory, with the words of `line`. */
static void openssl(const char *line)
{
    char *const copy = mem_text(slice_from(line));
    char *args[ARGS] = {"openssl"}, *rest = copy;
    size_t count = 1;
    int status = 0;

    for (char *word = strsep(&rest, " "); word; word = strsep(&rest, " "))
        args[count++] = word;
    assert_true(count < ARGS);
    pid_t pid = fork();
    if (pid == 0) {
        if (chdir(directory) == 0 && freopen("openssl.log", "a", stderr))
            execvp("openssl", args);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status != 0)
        fail_msg("openssl %s: status %d", line, status);
    free(copy);
}

static void make_authorities(void)
{
    openssl("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=good "
            "-keyout good.key -out good.pem");
    openssl("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=other "
            "-keyout other.key -out other.pem");
}

/* "server", signed by "good". */
static void make_certificate(const char *names)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof(path), "%s/server.ext", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "subjectAltName=%s\n", names);
    fclose(file);
    openssl("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server "
            "-keyout server.key -out server.csr");
    openssl("x509 -req -in server.csr -CA good.pem -CAkey good.key -CAcreateserial -days 2 "
            "-extfile server.ext -out server.pem");
}

/* `clients`: "no", or "yes" for a server that wants their certificates, signed by "good". */
static void begin_for(struct server *server, const char *names, const char *clients)
{
    char port[16], certificate[PATH_SIZE], key[PATH_SIZE], authority[PATH_SIZE];
    const char *const args[] = {"--tls-port",
                                port,
                                "--tls-cert-file",
                                certificate,
                                "--tls-key-file",
                                key,
                                "--tls-auth-clients",
                                clients,
                                "--tls-ca-cert-file",
                                authority,
                                NULL};

    make_authorities();
    make_certificate(names);
    server_init(server, "tls");
    server->tls_port = server_free_port();
    snprintf(port, sizeof(port), "%u", server->tls_port);
    snprintf(certificate, sizeof(certificate), "%s/server.pem", directory);
    snprintf(key, sizeof(key), "%s/server.key", directory);
    snprintf(authority, sizeof(authority), "%s/good.pem", directory);
    server_start(server, args);
}

static void begin(struct server *server, const char *names)
{
    begin_for(server, names, "no");
}

static void open_at(struct rig *rig, const struct server *server, const char *host,
                    const char *ca_file)
{
    char url[URL_SIZE];

    snprintf(url, sizeof(url), "rediss://%s:%u%s%s%s%s", host, server->tls_port,
             ca_file ? "?ca_file=" : "", ca_file ? directory : "", ca_file ? "/" : "",
             ca_file ? ca_file : "");
    rig_open(rig, url);
}

static void expect_down(const struct server *server, const char *host, const char *ca_file,
                        const char *text)
{
    struct rig rig;

    open_at(&rig, server, host, ca_file);
    rig_until_down(&rig, text);
    rig_close(&rig);
}

static void good(void **state)
{
    enum { MANY = 3000 };
    struct server server;
    struct rig rig;
    struct question *questions = mem_new(MANY * sizeof(*questions));

    (void)state;
    begin(&server, "IP:127.0.0.1,DNS:localhost");
    open_at(&rig, &server, "127.0.0.1", "good.pem");
    rig_until_up(&rig);
    for (size_t i = 0; i < MANY; i++) {
        char key[16];
        snprintf(key, sizeof(key), "k%zu", i);
        rig_start(&rig, &questions[i], key);
    }
    for (size_t i = 0; i < MANY; i++) {
        rig_finish(&rig, &questions[i]);
        assert_int_equal(questions[i].op.answer, STORE_CLAIMED);
    }
    rig_close(&rig);
    free(questions);
    open_at(&rig, &server, "localhost", "good.pem");
    rig_until_up(&rig);
    server_stop(&server);
    rig_until_down(&rig, "");
    rig_close(&rig);
}

static void wrong_authority(void **state)
{
    struct server server;

    (void)state;
    begin(&server, "IP:127.0.0.1,DNS:localhost");
    expect_down(&server, "127.0.0.1", "other.pem", "the certificate is not good");
    expect_down(&server, "127.0.0.1", NULL, "the certificate is not good");
    server_stop(&server);
}

static void wrong_host(void **state)
{
    struct server server;

    (void)state;
    begin(&server, "IP:127.0.0.2,DNS:redis.example,DNS:127.0.0.1");
    expect_down(&server, "127.0.0.1", "good.pem", "IP address mismatch");
    expect_down(&server, "localhost", "good.pem", "ostname mismatch");
    server_stop(&server);
}

static void plain_where_tls_is_wanted(void **state)
{
    struct server server;

    (void)state;
    begin(&server, "IP:127.0.0.1");
    unsigned tls_port = server.tls_port;
    server.tls_port = server.port;
    expect_down(&server, "127.0.0.1", "good.pem", "no TLS handshake in time");
    server.tls_port = tls_port;
    server_stop(&server);
}

static void certificates_that_cannot_be_read(void **state)
{
    struct server server;
    struct err err = {0};

    (void)state;
    begin(&server, "IP:127.0.0.1");
    expect_down(&server, "127.0.0.1", "server.key", "server.key: ");
    server_stop(&server);
    assert_false(store_address_check(SLICE("rediss://h?ca_file=/no/such"), &err));
    assert_string_equal(err.text, "the store's TLS files, which must be PEM: /no/such: "
                                  "No such file or directory");
}

/* "client", signed by `authority`. */
static void make_client(const char *authority)
{
    char line[URL_SIZE];

    openssl("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=client "
            "-keyout client.key -out client.csr");
    snprintf(line, sizeof(line),
             "x509 -req -in client.csr -CA %s.pem -CAkey %s.key -CAcreateserial -days 2 "
             "-out client.pem",
             authority, authority);
    openssl(line);
}

static const char *client_url(const struct server *server, const char *certificate, const char *key)
{
    static char url[2 * URL_SIZE];

    snprintf(url, sizeof(url),
             "rediss://127.0.0.1:%u?ca_file=%s/good.pem&cert_file=%s/%s&key_file=%s/%s",
             server->tls_port, directory, directory, certificate, directory, key);
    return url;
}

static void client_certificates(void **state)
{
    struct server server;
    struct rig rig;

    (void)state;
    begin_for(&server, "IP:127.0.0.1", "yes");
    make_client("good");
    expect_down(&server, "127.0.0.1", "good.pem", "certificate required");
    rig_open(&rig, client_url(&server, "client.pem", "client.key"));
    rig_until_up(&rig);
    assert_int_equal(rig_ask(&rig, "a").answer, STORE_CLAIMED);
    rig_close(&rig);
    make_client("other");
    rig_open(&rig, client_url(&server, "client.pem", "client.key"));
    rig_until_down(&rig, "alert unknown ca");
    make_client("good"); /* renewed, while it runs */
    rig_until_up(&rig);
    rig_end(&server, &rig);
}

static void expect_unusable(const struct server *server, const char *certificate, const char *key,
                            const char *text)
{
    struct err err = {0};

    assert_false(store_address_check(slice_from(client_url(server, certificate, key)), &err));
    if (!strstr(err.text, text))
        fail_msg("\"%s\" is not in \"%s\"", text, err.text);
}

static void client_certificates_that_cannot_be_used(void **state)
{
    const struct server server = {.tls_port = 1};
    struct err err = {0};

    (void)state;
    make_authorities();
    make_client("good");
    openssl("ec -in client.key -aes128 -passout pass:sesame -out locked.key");
    assert_true(
        store_address_check(slice_from(client_url(&server, "client.pem", "client.key")), &err));
    expect_unusable(&server, "none.pem", "client.key", "none.pem: No such file or directory");
    expect_unusable(&server, "client.pem", "none.key", "none.key: No such file or directory");
    expect_unusable(&server, "client.key", "client.key", "client.key: no start line");
    expect_unusable(&server, "client.pem", "client.pem", "client.pem: ");
    expect_unusable(&server, "client.pem", "other.key", "other.key: key values mismatch");
    expect_unusable(&server, "client.pem", "locked.key",
                    "locked.key: the key has a passphrase; write it without one");
}

const struct CMUnitTest tls_cases[] = {
    cmocka_unit_test(client_certificates),
    cmocka_unit_test(client_certificates_that_cannot_be_used),
    cmocka_unit_test(good),
    cmocka_unit_test(wrong_authority),
    cmocka_unit_test(wrong_host),
    cmocka_unit_test(plain_where_tls_is_wanted),
    cmocka_unit_test(certificates_that_cannot_be_read),
};
const size_t tls_case_count = sizeof(tls_cases) / sizeof(tls_cases[0]);
