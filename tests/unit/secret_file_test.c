/* SPDX-License-Identifier: Apache-2.0 */
/* A secret is replaced whole, with the owner, the mode and the links of its file; or not at all. */
#include "tests/check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gateway/cli/fresh_secret.h"
#include "gateway/cli/secret_file.h"

struct place {
    char directory[64], file[96], link[96];
};

static int set_up(void **state)
{
    struct place *place = mem_new(sizeof(*place));

    snprintf(place->directory, sizeof(place->directory), "/tmp/secret_file_test.%s", "XXXXXX");
    assert_non_null(mkdtemp(place->directory));
    snprintf(place->file, sizeof(place->file), "%s/wake", place->directory);
    snprintf(place->link, sizeof(place->link), "%s/link", place->directory);
    FILE *file = fopen(place->file, "w");
    fputs("old\n", file);
    fclose(file);
    chmod(place->file, 0640);
    assert_int_equal(symlink("wake", place->link), 0);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;

    chmod(place->directory, 0700);
    unlink(place->link);
    unlink(place->file);
    assert_int_equal(rmdir(place->directory), 0); /* nothing else was left in it */
    free(place);
    return 0;
}

static void expect(const struct place *place, const char *text)
{
    char found[64] = "";
    FILE *file = fopen(place->file, "r");
    size_t len = fread(found, 1, sizeof(found) - 1, file);

    fclose(file);
    found[len] = '\0';
    assert_string_equal(found, text);
}

static void replaces(void **state)
{
    const struct place *place = *state;
    struct stat stat_now;
    struct err err;

    assert_true(secret_file_write(place->file, SLICE("new"), &err));
    expect(place, "new\n");
    assert_int_equal(stat(place->file, &stat_now), 0);
    assert_int_equal(stat_now.st_mode & 07777, 0640);
    assert_true(secret_file_write(place->link, SLICE("newer"), &err));
    expect(place, "newer\n");
    assert_int_equal(lstat(place->link, &stat_now), 0);
    assert_true(S_ISLNK(stat_now.st_mode));
}

static void leaves_what_it_cannot_replace(void **state)
{
    const struct place *place = *state;
    char nowhere[128];
    struct err err;

    snprintf(nowhere, sizeof(nowhere), "%s/none", place->directory);
    assert_false(secret_file_write(nowhere, SLICE("new"), &err));
    assert_non_null(strstr(err.text, nowhere));
    assert_non_null(strstr(err.text, "No such file"));
    assert_false(secret_file_write(place->directory, SLICE("new"), &err));
    assert_non_null(strstr(err.text, "no regular file"));
    if (geteuid() != 0) { /* root may write anywhere */
        chmod(place->directory, 0500);
        assert_false(secret_file_write(place->file, SLICE("new"), &err));
        assert_non_null(strstr(err.text, "cannot be replaced"));
    }
    expect(place, "old\n");
}

/* Each is another, and fits the dialect it is made for. */
static void fresh_secrets_fit(void **state)
{
    char before[FRESH_SECRET_SIZE] = "", text[FRESH_SECRET_SIZE];
    struct secret secret;
    struct err err;

    (void)state;
    for (size_t i = 0; dialects[i]; i++) {
        fresh_secret(dialects[i], text);
        assert_true(secret_init(&secret, slice_from(text), &err));
        assert_true(dialects[i]->secret_fits(&secret, &err));
        assert_null(dialect_secret_doubt(dialects[i], &secret));
        secret_release(&secret);
        assert_string_not_equal(text, before);
        memcpy(before, text, sizeof(before));
    }
    fresh_secret(NULL, text);
    assert_int_equal(strspn(text, "0123456789abcdef"), 64);
    assert_int_equal(strlen(text), 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(replaces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(leaves_what_it_cannot_replace, set_up, tear_down),
        cmocka_unit_test(fresh_secrets_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
