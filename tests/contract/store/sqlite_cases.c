/* SPDX-License-Identifier: Apache-2.0 */
/* What only a file can show: that it lasts, that it is ours alone, and what is wrong with it. */
#include "tests/contract/store/rig.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *path_of(const struct rig *rig)
{
    return strchr(rig->url, ':') + 1;
}

static void reopen(struct rig *rig)
{
    const char *url = rig->url;
    char prefix[sizeof(rig->prefix)];

    memcpy(prefix, rig->prefix, sizeof(prefix));
    rig_close(rig);
    rig_open(rig, url, WINDOW_MS);
    memcpy(rig->prefix, prefix, sizeof(prefix));
}

static void it_lasts(struct rig *rig)
{
    struct ask hold = {.key = "held", .gate = "g", .owner = "ann", .for_ms = LONG_MS};
    struct ask paced = {.key = "p", .gate = "h", .owner = "ann", .for_ms = LONG_MS};

    paced.pace = (struct pace){.per_hour = 1, .burst = 1};
    rig_settle(rig, "relayed", "ann");
    rig_claim(rig, "claimed", "ann", LONG_MS);
    rig_ask(rig, STORE_HOLD, hold);
    assert_int_equal(rig_ask(rig, STORE_CLAIM, paced).answer, STORE_CLAIMED);
    reopen(rig);
    assert_int_equal(rig_claim(rig, "relayed", "bob", LONG_MS), STORE_RELAYED);
    assert_int_equal(rig_claim(rig, "claimed", "bob", LONG_MS), STORE_IN_FLIGHT);
    assert_int_equal(rig_claim(rig, "claimed", "ann", LONG_MS), STORE_CLAIMED);
    assert_int_equal(rig_claim(rig, "held", "bob", LONG_MS), STORE_HELD);
    hold.key = "free";
    assert_int_equal(rig_ask(rig, STORE_CLAIM, hold).answer, STORE_RESTING);
    paced.key = "q";
    assert_int_equal(rig_ask(rig, STORE_CLAIM, paced).answer, STORE_PACED);
}

/* This program again, as a child with its standard output in `*out`. */
static pid_t spawn(const char *what, const char *url, int *out)
{
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], STDOUT_FILENO);
        execl("/proc/self/exe", "store_test", "child", what, url, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    *out = ends[0];
    return pid;
}

static void say(const char *text)
{
    printf("%s\n", text);
    fflush(stdout);
}

int sqlite_child(const char *what, const char *url)
{
    struct rig rig;
    struct err err = {0};

    if (strcmp(what, "settle") == 0) {
        rig_open(&rig, url, WINDOW_MS);
        snprintf(rig.prefix, sizeof(rig.prefix), "r");
        bool ok = rig_claim(&rig, "a", "ann", LONG_MS) == STORE_CLAIMED &&
                  rig_settle(&rig, "a", "ann") == STORE_OK;
        say(ok ? "settled" : "not settled");
        for (;;)
            pause();
    }
    struct turn turn = {0};
    struct store *store = NULL;
    bool opened = store_open(slice_from(url), WINDOW_MS, &turn, &store, &err);
    say(opened ? "opened" : err.text);
    return 0;
}

/* Waits for the child's line. */
static void expect_line(int out, const char *text)
{
    char line[512] = "";
    FILE *file = fdopen(out, "r");

    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    if (!strstr(line, text))
        fail_msg("the child said: %s", line);
    fclose(file);
}

static void killed(struct rig *rig)
{
    const char *url = rig->url;
    int out = -1, status = 0;

    rig_close(rig);
    pid_t pid = spawn("settle", url, &out);
    expect_line(out, "settled\n");
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    rig_open(rig, url, WINDOW_MS);
    snprintf(rig->prefix, sizeof(rig->prefix), "r");
    assert_int_equal(rig_claim(rig, "a", "bob", LONG_MS), STORE_RELAYED);
}

static void refuses(struct rig *rig, const char *url, const char *why)
{
    struct store *store = NULL;
    struct err err = {0};

    assert_false(store_open(slice_from(url), WINDOW_MS, &rig->turn, &store, &err));
    if (!strstr(err.text, why))
        fail_msg("said \"%s\", not \"%s\"", err.text, why);
    assert_null(store);
}

static void second_opener(struct rig *rig)
{
    int out = -1;

    refuses(rig, rig->url, "in use by another process");
    pid_t pid = spawn("open", rig->url, &out);
    expect_line(out, "in use by another process");
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(rig_claim(rig, "a", "ann", LONG_MS), STORE_CLAIMED);
}

/* Writes into a closed file; SQLite's header has the layout at 60, the program at 68. */
static void patch(struct rig *rig, off_t at, const char *bytes, size_t len, const char *why)
{
    char url[512], other[512];

    snprintf(url, sizeof(url), "%s", rig->url);
    snprintf(other, sizeof(other), "%s-other", rig->url);
    rig_close(rig);
    int fd = open(path_of(rig), O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, len, at), (ssize_t)len);
    close(fd);
    rig_open(rig, other, WINDOW_MS);
    refuses(rig, url, why);
    refuses(rig, url, why); /* and left as it was */
}

static void newer_layout(struct rig *rig)
{
    patch(rig, 60, "\0\0\0\3", 4, "layout 3 of a later version");
}

static void another_program(struct rig *rig)
{
    patch(rig, 68, "\0\0\0\1", 4, "another program's database");
}

static void no_database(struct rig *rig)
{
    patch(rig, 0, "Once upon a time", 16, "not a database");
}

static void no_such_place(struct rig *rig)
{
    char url[512];

    snprintf(url, sizeof(url), "%s-no/such/directory.db", rig->url);
    refuses(rig, url, "no such file or directory");
    refuses(rig, "sqlite:/", "unable to open");
    refuses(rig, "sqlite:", "path");
    refuses(rig, "sqlite::memory:", "path");
    refuses(rig, "memory", "sqlite:");
    refuses(rig, "gopher://user:canary@host/", "sqlite:");
}

/* A child without the rights of root. */
static void not_writable(struct rig *rig)
{
    char directory[512], url[600];
    int status = 0;

    snprintf(directory, sizeof(directory), "%s-locked", path_of(rig));
    snprintf(url, sizeof(url), "sqlite:%s/store.db", directory);
    assert_int_equal(mkdir(directory, 0555), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct store *store = NULL;
        struct err err = {0};
        bool dropped = geteuid() != 0 || setuid(65534) == 0;
        bool opened = store_open(slice_from(url), WINDOW_MS, &rig->turn, &store, &err);
        _exit(dropped && !opened && strstr(err.text, "unable to open") ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* A limit on the size of files is a disk that is full. */
static void full_disk(struct rig *rig)
{
    struct rlimit before, full;

    rig_claim(rig, "before", "ann", LONG_MS);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    full = before;
    full.rlim_cur = 1;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
    struct ask ask = {.key = "a", .owner = "ann", .for_ms = LONG_MS};
    struct store_op claim = rig_ask(rig, STORE_CLAIM, ask);
    struct store_op ping = rig_ask(rig, STORE_PING, (struct ask){0});
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(claim.answer, STORE_UNSURE);
    assert_int_equal(ping.answer, STORE_UNSURE);
    assert_non_null(strstr(claim.err.text, "sqlite: "));
    print_message("a full disk says: %s\n", claim.err.text);
    assert_int_equal(rig_claim(rig, "a", "bob", LONG_MS), STORE_CLAIMED); /* was rolled back */
    assert_int_equal(rig_claim(rig, "before", "bob", LONG_MS), STORE_IN_FLIGHT);
    reopen(rig);
    assert_int_equal(rig_claim(rig, "a", "ann", LONG_MS), STORE_IN_FLIGHT);
}

const struct store_case sqlite_cases[] = {
    {"it lasts", it_lasts, 0},
    {"a settlement outlives a killed process", killed, 0},
    {"a second opener is refused", second_opener, 0},
    {"a newer layout is refused", newer_layout, 0},
    {"another program's database is refused", another_program, 0},
    {"what is no database is refused", no_database, 0},
    {"what is no path to a file is refused", no_such_place, 0},
    {"a directory that is not writable is refused", not_writable, 0},
    {"a full disk is unsure, and forgotten when it has room", full_disk, 0},
    {0},
};
