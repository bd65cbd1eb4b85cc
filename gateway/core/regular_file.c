/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/core/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *regular_file_open(const char *name)
{
    int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe without a writer opens */
    struct stat facts = {0};

    if (fd < 0)
        return NULL;
    if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode))
        return fdopen(fd, "r");
    close(fd);
    errno = S_ISDIR(facts.st_mode) ? EISDIR : ENOTSUP;
    return NULL;
}

static struct file_version version_of(const struct stat *facts)
{
    return (struct file_version){
        .device = facts->st_dev,
        .inode = facts->st_ino,
        .size = facts->st_size,
        .changed_ns = facts->st_mtim.tv_sec * INT64_C(1000000000) + facts->st_mtim.tv_nsec,
    };
}

struct file_version regular_file_version(FILE *stream)
{
    struct stat facts = {0};

    if (!stream || fstat(fileno(stream), &facts) != 0)
        return (struct file_version){0};
    return version_of(&facts);
}

struct file_version regular_file_version_now(const char *name)
{
    struct stat facts = {0};

    return stat(name, &facts) == 0 ? version_of(&facts) : (struct file_version){0};
}

bool file_version_eq(const struct file_version *one, const struct file_version *other)
{
    return one->device == other->device && one->inode == other->inode && one->size == other->size &&
           one->changed_ns == other->changed_ns;
}

const char *regular_file_why(int code)
{
    return code == ENOTSUP ? "it is no regular file" : strerror(code);
}
