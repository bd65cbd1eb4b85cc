/* SPDX-License-Identifier: Apache-2.0 */
/* Written beside it and renamed. A link stays one: what it leads to is replaced. */
#include "gateway/cli/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gateway/core/buf.h"

enum { PATH_BYTES = 4096 };

static bool complain(struct err *err, const char *path, const char *what)
{
    return err_set(err, "%s cannot be %s (%s)", path, what, strerror(errno));
}

/* The bytes of the new file, with owner and mode of the old one. */
static bool fill(int fd, const struct stat *old, struct slice text)
{
    struct stat now;

    if (fstat(fd, &now) != 0)
        return false;
    bool same_owner = now.st_uid == old->st_uid && now.st_gid == old->st_gid;
    if (!same_owner && fchown(fd, old->st_uid, old->st_gid) != 0)
        return false;
    return fchmod(fd, old->st_mode & 07777) == 0 &&
           write(fd, text.data, text.len) == (ssize_t)text.len && write(fd, "\n", 1) == 1 &&
           fsync(fd) == 0;
}

static bool replace(const char *real, const struct stat *old, struct slice text, struct err *err)
{
    char beside[PATH_BYTES + 8];

    snprintf(beside, sizeof(beside), "%s.XXXXXX", real);
    int fd = mkostemp(beside, O_CLOEXEC);
    if (fd < 0)
        return complain(err, real, "replaced: nothing can be written beside it");
    bool good = fill(fd, old, text);
    int why = errno;
    close(fd);
    if (good && rename(beside, real) == 0)
        return true;
    if (good)
        why = errno;
    unlink(beside);
    errno = why;
    return complain(err, real, "replaced");
}

bool secret_file_write(const char *path, struct slice text, struct err *err)
{
    char real[PATH_BYTES];
    struct stat old;

    if (!realpath(path, real))
        return complain(err, path, "found");
    if (stat(real, &old) != 0)
        return complain(err, path, "looked at");
    if (!S_ISREG(old.st_mode))
        return err_set(err, "%s is no regular file", path);
    return replace(real, &old, text, err);
}
