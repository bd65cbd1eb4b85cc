/* SPDX-License-Identifier: Apache-2.0 */
/* config: bad configs and what is said of each (tests/unit/data/bad-configs.json), the defaults,
 * routes by name, and what a reload cannot bring into force. */
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gateway/cli/cli.h"
#include "gateway/config.h"
#include "gateway/core/metrics.h"

enum { LINES = 64 };

struct loaded {
    char path[64];
    struct settings_report report;
    struct config *config;
};

static json_t *base_config(void)
{
    json_t *base = json_load_file(TESTS_DIR "/unit/data/base-config.json", 0, NULL);

    assert_non_null(base);
    return base;
}

static void load(struct loaded *loaded, const char *json, char *const *environment)
{
    static int number; /* several may be open at once */

    *loaded = (struct loaded){0};
    snprintf(loaded->path, sizeof(loaded->path), "/tmp/config_test.%d.%d", getpid(), number++);
    FILE *stream = fopen(loaded->path, "wxe");
    assert_non_null(stream);
    assert_int_equal(fwrite(json, 1, strlen(json), stream), strlen(json));
    fclose(stream);
    settings_report_init(&loaded->report, loaded->path);
    loaded->config = config_read(&loaded->report, environment);
    if (loaded->config)
        config_open_routes(loaded->config, NULL, &loaded->report);
}

static void unload(struct loaded *loaded)
{
    config_free(loaded->config);
    settings_report_release(&loaded->report);
    unlink(loaded->path);
}

static void load_base(struct loaded *loaded, const char *key, const char *value)
{
    static char *const nothing[] = {NULL};
    json_t *root = base_config();

    if (key)
        json_object_set_new(root, key, json_loads(value, JSON_DECODE_ANY, NULL));
    char *json = json_dumps(root, 0);
    load(loaded, json, nothing);
    free(json);
    json_decref(root);
    assert_string_equal(buf_text(&loaded->report.mistakes), "");
}

/* Lays the members of `changes` over `object`; null removes. */
static void lay_over(json_t *object, json_t *changes)
{
    const char *key;
    json_t *value;

    json_object_foreach (changes, key, value) {
        if (json_is_null(value))
            json_object_del(object, key);
        else
            json_object_set(object, key, value);
    }
}

static char *case_text(const json_t *one)
{
    const char *text = json_string_value(json_object_get(one, "text"));
    const char *name = json_string_value(json_object_get(one, "rename"));

    if (text)
        return mem_text(slice_from(text));
    json_t *root = base_config();
    json_t *routes = json_object_get(root, "routes");
    json_t *relay = json_object_get(routes, "relay");
    json_t *trigger = json_object_get(json_object_get(relay, "target"), "trigger");
    lay_over(trigger, json_object_get(one, "trigger"));
    lay_over(relay, json_object_get(one, "route"));
    if (name) {
        json_object_set(routes, name, relay);
        json_object_del(routes, "relay");
    }
    lay_over(root, json_object_get(one, "top"));
    text = json_dumps(root, 0);
    json_decref(root);
    return (char *)(uintptr_t)text;
}

/* As many lines as fragments, each with its fragment in it. */
static void expect_lines(const char *name, const char *kind, struct slice lines,
                         const json_t *fragments)
{
    size_t count = 0;
    struct slice line;
    const char *all = lines.len > 0 ? lines.data : "";

    while (slice_cut(lines, '\n', &line, &lines)) {
        const char *fragment = json_string_value(json_array_get(fragments, count++));
        if (!fragment || !memmem(line.data, line.len, fragment, strlen(fragment)))
            fail_msg("%s: expected as %s %zu: %s\ngot:\n%s", name, kind, count,
                     fragment ? fragment : "none", all);
        if (memmem(line.data, line.len, "canary", 6))
            fail_msg("%s: a secret is shown:\n%s", name, all);
    }
    if (count != json_array_size(fragments))
        fail_msg("%s: %zu expected as %s, got:\n%s", name, json_array_size(fragments), kind, all);
}

static void run_case(const json_t *one)
{
    const char *name = json_string_value(json_object_get(one, "name"));
    const json_t *variables = json_object_get(one, "environment");
    const char *environment[LINES + 1] = {NULL};
    char *text = case_text(one);
    struct loaded loaded;

    for (size_t i = 0; i < json_array_size(variables); i++)
        environment[i] = json_string_value(json_array_get(variables, i));
    if (json_is_true(json_object_get(one, "latin1")))
        environment[0] = "WAKEGATE_CA_FILE=\xff";
    load(&loaded, text, (char *const *)(uintptr_t)environment);
    const struct settings_report *report = &loaded.report;
    expect_lines(name, "mistake", buf_slice(&report->mistakes), json_object_get(one, "mistakes"));
    expect_lines(name, "warning", buf_slice(&report->warnings), json_object_get(one, "warnings"));
    unload(&loaded);
    free(text);
}

static void says_what_is_wrong(void **state)
{
    json_error_t error;
    json_t *cases = json_load_file(TESTS_DIR "/unit/data/bad-configs.json", 0, &error);
    const json_t *one;
    size_t index;

    (void)state;
    if (!cases)
        fail_msg("line %d: %s", error.line, error.text);
    assert_true(json_array_size(cases) > 60);
    json_array_foreach (cases, index, one)
        run_case(one);
    json_decref(cases);
}

static void has_defaults(void **state)
{
    struct loaded loaded;

    (void)state;
    load_base(&loaded, NULL, NULL);
    const struct config *config = loaded.config;
    assert_int_equal(config->front.listen_count, 1);
    assert_true(slice_eq(config->front.listen[0], SLICE("[::]:8080")));
    assert_int_equal(config->admin.len, 0);
    assert_string_equal(config->store, "sqlite:wakegate.db");
    assert_null(config->ca_file);
    assert_int_equal(config->window_ms, 48 * 3600 * 1000);
    assert_int_equal(config->budget_ms, 8000);
    assert_int_equal(config->max_body, 65536);
    assert_int_equal(config->front.body_memory, 64 * 1024 * 1024);
    assert_int_equal(config->log_level, LOG_INFO);
    const struct route *route = config->routes[0];
    assert_string_equal(route->handle, "@example-relay");
    assert_int_equal(route->keyring.tolerance_s, 300);
    assert_int_equal(route->on_test, ON_TEST_RELAY);
    assert_int_equal(route->destinations.count, 1);
    unload(&loaded);
}

/* When it is unclear whether a client took a wake, the thread rests for as long as an offer can
 * last; a trigger rests for minutes. */
static void holds_for(const char *target, int64_t hold_ms)
{
    static char *const no_variables[] = {NULL};
    struct loaded loaded;
    char json[1024];

    snprintf(json, sizeof(json),
             "{\"budget\": \"5s\", \"rooms\": {\"anonymous\": {\"threads\": [\"a\"]}}, \"routes\": "
             "{\"r\": {\"dialect\": \"agentchat\", \"handle\": \"@x\", \"secrets\": "
             "[{\"literal\": \"0123456789abcdef0123456789abcdef\"}], \"target\": %s}}}",
             target);
    load(&loaded, json, no_variables);
    if (loaded.report.mistake_count > 0)
        fail_msg("%s", buf_text(&loaded.report.mistakes));
    assert_int_equal(loaded.config->routes[0]->destinations.child[0]->leaves[0].target->hold_ms,
                     hold_ms);
    unload(&loaded);
}

static void targets_hold_for_a_time_of_their_kind(void **state)
{
    (void)state;
    holds_for("{\"room\": {\"thread\": \"a\"}}", 7000);
    holds_for("{\"room\": {\"thread\": \"a\", \"hold\": \"1m\"}}", 60000);
    holds_for("{\"trigger\": {\"dialect\": \"poke\", \"url\": \"https://example.com/\", "
              "\"token\": {\"literal\": \"0123456789\"}}}",
              240000);
}

static void variables_become_what_the_file_would_say(void **state)
{
    static const char *const environment[] = {"WAKEGATE_LISTEN=127.0.0.1:1, [::1]:2",
                                              "WAKEGATE_MAX_BODY=2048",
                                              "WAKEGATE_STORE=redis://:canary@host/1",
                                              "WAKEGATE_LOG_LEVEL=debug",
                                              "WAKEGATE_GRACE=1m",
                                              "WAKEGATE_WATCH=true",
                                              NULL};
    struct loaded loaded;

    (void)state;
    json_t *root = base_config();
    char *json = json_dumps(root, 0);
    load(&loaded, json, (char *const *)(uintptr_t)environment);
    free(json);
    json_decref(root);
    assert_int_equal(loaded.report.mistake_count, 0);
    const struct config *config = loaded.config;
    assert_int_equal(config->front.listen_count, 2);
    assert_true(slice_eq(config->front.listen[0], SLICE("127.0.0.1:1")));
    assert_true(slice_eq(config->front.listen[1], SLICE("[::1]:2")));
    assert_int_equal(config->max_body, 2048);
    assert_string_equal(config->store, "redis://:canary@host/1");
    assert_int_equal(config->log_level, LOG_DEBUG);
    assert_int_equal(config->grace_ms, 60000);
    assert_true(config->watch);
    unload(&loaded);
}

static void listens_where(const char *const environment[], const char *where)
{
    struct loaded loaded;

    json_t *root = base_config();
    char *json = json_dumps(root, 0);
    load(&loaded, json, (char *const *)(uintptr_t)environment);
    free(json);
    json_decref(root);
    assert_int_equal(loaded.report.mistake_count, 0);
    assert_int_equal(loaded.config->front.listen_count, 1);
    assert_true(slice_eq(loaded.config->front.listen[0], slice_from(where)));
    unload(&loaded);
}

static void listens_at_the_port_of_a_platform(void **state)
{
    (void)state;
    listens_where((const char *const[]){NULL}, "[::]:8080");
    listens_where((const char *const[]){"PORT=10000", NULL}, "[::]:10000");
    listens_where((const char *const[]){"PORT=10000", "WAKEGATE_LISTEN=127.0.0.1:1", NULL},
                  "127.0.0.1:1");
}

static json_t *many_routes(size_t count)
{
    json_t *root = base_config();
    json_t *routes = json_object_get(root, "routes");

    for (size_t i = count; i > 0; i--) {
        char name[16];
        snprintf(name, sizeof(name), "r%zu", i);
        json_object_set_new(routes, name, json_deep_copy(json_object_get(routes, "relay")));
    }
    return root;
}

static void finds_routes_by_name(void **state)
{
    static char *const nothing[] = {NULL};
    json_t *root = many_routes(40);
    char *json = json_dumps(root, 0);
    struct loaded loaded;

    (void)state;
    load(&loaded, json, nothing);
    assert_int_equal(loaded.config->route_count, 41);
    assert_string_equal(config_route(loaded.config, SLICE("relay"))->name, "relay");
    for (size_t i = 1; i <= 40; i++) {
        char name[16];
        snprintf(name, sizeof(name), "r%zu", i);
        assert_string_equal(config_route(loaded.config, slice_from(name))->name, name);
    }
    assert_null(config_route(loaded.config, SLICE("r")));
    assert_null(config_route(loaded.config, SLICE("r41")));
    assert_null(config_route(loaded.config, SLICE("relay2")));
    assert_null(config_route(loaded.config, (struct slice){0}));
    /* They all have the one secret. */
    assert_int_equal(loaded.report.warning_count, 1);
    assert_non_null(strstr(buf_text(&loaded.report.warnings),
                           "routes: r1, r10, r11, r12, r13, r14, r15, r16 and 33 more share a "
                           "secret; give each route its own"));
    unload(&loaded);
    free(json);
    json_decref(root);
}

/* Two groups, and a secret that one route has three times: no matter: two lines. */
static void tells_each_shared_secret_once(void **state)
{
    static char *const nothing[] = {NULL};
    json_t *root = many_routes(5);
    json_t *routes = json_object_get(root, "routes");
    const char *const others[] = {"r4", "r5"};
    struct loaded loaded;

    (void)state;
    for (size_t i = 0; i < 2; i++)
        json_object_set_new(json_object_get(routes, others[i]), "secrets",
                            json_pack("[{s:s}]", "env", "WAKEGATE_TEST_SECRET"));
    json_object_set_new(json_object_get(routes, "r2"), "secrets",
                        json_pack("[{s:s},{s:s},{s:s}]", "env", "CONFIG_TEST_SECRET", "env",
                                  "CONFIG_TEST_SECRET", "env", "CONFIG_TEST_SECRET"));
    char *json = json_dumps(root, 0);
    load(&loaded, json, nothing);
    const char *warnings = buf_text(&loaded.report.warnings);
    assert_int_equal(loaded.report.warning_count, 2);
    assert_non_null(strstr(warnings, "routes: r1, r2, r3, relay share a secret"));
    assert_non_null(strstr(warnings, "routes: r4, r5 share a secret"));
    unload(&loaded);
    free(json);
    json_decref(root);
}

static void checking_a_store_makes_no_file(void **state)
{
    char directory[] = "/tmp/config_test."
                       "XX"
                       "XX"
                       "XX",
         store[64];
    struct loaded loaded;

    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(store, sizeof(store), "\"sqlite:%s/a.db\"", directory);
    load_base(&loaded, "store", store);
    unload(&loaded);
    assert_int_equal(rmdir(directory), 0); /* it is empty */
}

static void a_route_in_use_outlives_its_config(void **state)
{
    struct loaded loaded;

    (void)state;
    load_base(&loaded, NULL, NULL);
    struct route *route = route_hold(config_route(loaded.config, SLICE("relay")));
    unload(&loaded);
    assert_string_equal(route->name, "relay");
    route_drop(route);
}

static void says_what_needs_a_restart(void **state)
{
    struct loaded running, same, fresh;
    struct buf keys = BUF_INIT(1000);

    (void)state;
    load_base(&running, NULL, NULL);
    load_base(&same, "budget", "\"9s\"");
    assert_false(config_needs_restart(running.config, same.config, &keys));
    load_base(&fresh, "listen", "\"127.0.0.1:1\"");
    assert_true(config_needs_restart(running.config, fresh.config, &keys));
    assert_string_equal(buf_text(&keys), "listen");
    buf_release(&keys);
    unload(&fresh);
    load_base(&fresh, "store", "{\"literal\": \"redis://host\"}");
    assert_true(config_needs_restart(running.config, fresh.config, &keys));
    assert_true(config_needs_restart(fresh.config, running.config, &keys));
    assert_string_equal(buf_text(&keys), "store, store");
    buf_release(&keys);
    unload(&running);
    unload(&same);
    unload(&fresh);
}

/* What cli_check prints, and its status. */
static int check_says(const char *path, char *text, size_t size)
{
    char *argv[] = {(char *)(uintptr_t) "check", (char *)(uintptr_t) "--config",
                    (char *)(uintptr_t)path, NULL};
    FILE *capture = tmpfile();
    int out = dup(STDOUT_FILENO);

    fflush(stdout);
    dup2(fileno(capture), STDOUT_FILENO);
    int status = cli_check(3, argv);
    dup2(out, STDOUT_FILENO);
    close(out);
    rewind(capture);
    text[fread(text, 1, size - 1, capture)] = '\0';
    fclose(capture);
    return status;
}

static void check_tells_everything_and_sums_up(void **state)
{
    char text[4096], expected[256];
    struct loaded loaded;

    (void)state;
    unsetenv("WAKEGATE_TEST_SECRET");
    load_base(&loaded, NULL, NULL);
    assert_int_equal(check_says(loaded.path, text, sizeof(text)), 0);
    snprintf(expected, sizeof(expected), "%s is fine: 1 route, store sqlite\n", loaded.path);
    assert_string_equal(text, expected);
    unload(&loaded);
    load_base(&loaded, "store", "{\"literal\": \"redis://:canary@host\"}");
    assert_int_equal(check_says(loaded.path, text, sizeof(text)), 0);
    assert_non_null(strstr(text, " is fine: 1 route, store redis, 1 warning\n"));
    assert_null(strstr(text, "canary"));
    unload(&loaded);
    assert_int_equal(check_says("/nowhere.json", text, sizeof(text)), 1);
    assert_non_null(strstr(text, "mistake: /nowhere.json: there is no such file"));
    assert_non_null(strstr(text, "\n/nowhere.json: 1 mistake, 0 warnings\n"));
}

static int set_variables(void **state)
{
    (void)state;
    setenv("CONFIG_TEST_SECRET", "a secret for tests", 1);
    setenv("CONFIG_TEST_TOKEN", "a token for tests", 1);
    setenv("CONFIG_TEST_URL", "https://example.com/canary", 1);
    setenv("CONFIG_TEST_HEX", "4a4f1b0e7d63c2a895f0e1d2c3b4a5968778695a4b3c2d1e0f1a2b3c4d5e6f70",
           1);
    setenv("CONFIG_TEST_WHSEC", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 1);
    setenv("CONFIG_TEST_BLANK", "canary ", 1);
    setenv("WAKEGATE_TEST_SECRET", "another secret for tests", 1);
    unsetenv("CONFIG_TEST_UNSET");
    return 0;
}

static int forget_metrics(void **state)
{
    (void)state;
    metrics_free();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(has_defaults),
        cmocka_unit_test(targets_hold_for_a_time_of_their_kind),
        cmocka_unit_test(variables_become_what_the_file_would_say),
        cmocka_unit_test(listens_at_the_port_of_a_platform),
        cmocka_unit_test(finds_routes_by_name),
        cmocka_unit_test(tells_each_shared_secret_once),
        cmocka_unit_test(checking_a_store_makes_no_file),
        cmocka_unit_test(a_route_in_use_outlives_its_config),
        cmocka_unit_test(says_what_needs_a_restart),
        cmocka_unit_test(check_tells_everything_and_sums_up),
    };
    return cmocka_run_group_tests(tests, set_variables, forget_metrics);
}
