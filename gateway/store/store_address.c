/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/store/store_address.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gateway/core/buf.h"
#include "gateway/net/tls.h"
#include "gateway/store/redis_url.h"
#include "gateway/store/store.h"

enum { SHOWN_BYTES = 100 };

#define EXAMPLE "write for example sqlite:wakegate.db"

/* The write-ahead log stands beside the file, so its directory must be writable in any case. */
static bool check_directory(const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    struct slice name = slash ? slice_first(slice_from(path), (size_t)(slash - path)) : SLICE(".");
    struct stat file;

    char *directory = mem_text(slash == path ? SLICE("/") : name);
    bool is_directory = stat(directory, &file) == 0 && S_ISDIR(file.st_mode);
    bool fine = is_directory && access(directory, W_OK | X_OK) == 0;
    if (!is_directory)
        err_set(err, "there is no directory %.*s; make it, or name another place",
                SLICE_ARG(slice_first(slice_from(directory), SHOWN_BYTES)));
    else if (!fine)
        err_set(err, "the directory %.*s cannot be written to (%s); check its permissions",
                SLICE_ARG(slice_first(slice_from(directory), SHOWN_BYTES)), strerror(errno));
    free(directory);
    return fine;
}

static bool check_file(const char *path, struct err *err)
{
    struct slice shown = slice_first(slice_from(path), SHOWN_BYTES);
    struct stat file;

    if (stat(path, &file) != 0)
        return true; /* it will be made */
    if (!S_ISREG(file.st_mode))
        return err_set(err, "%.*s is no file; name one", SLICE_ARG(shown));
    return access(path, R_OK | W_OK) == 0 ||
           err_set(err, "%.*s cannot be written to (%s); check its permissions", SLICE_ARG(shown),
                   strerror(errno));
}

static bool check_sqlite(struct slice path, struct err *err)
{
    if (path.len == 0)
        return err_set(err, "the store's URL: there is no file after sqlite:; " EXAMPLE);
    if (slice_eq(path, SLICE(":memory:")))
        return err_set(err, "memory would forget what was relayed; " EXAMPLE);
    char *text = mem_text(path);
    bool fine = check_directory(text, err) && check_file(text, err);
    free(text);
    return fine;
}

static bool check_redis(struct slice url, struct err *err)
{
    struct redis_url parsed;

    if (!redis_url_init(&parsed, url, err))
        return false;
    struct tls_files files = redis_url_files(&parsed);
    bool fine = !parsed.tls || tls_check_files(&files, err) ||
                err_wrap(err, "the store's TLS files, which must be PEM");
    redis_url_release(&parsed);
    return fine;
}

bool store_address_check(struct slice url, struct err *err)
{
    const struct store_impl *impl = store_find(url, err);

    if (!impl)
        return false;
    if (impl == &store_redis)
        return check_redis(url, err);
    return check_sqlite(slice_from_at(url, strlen("sqlite:")), err);
}
