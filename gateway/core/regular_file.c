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

const char *regular_file_why(int code)
{
    return code == ENOTSUP ? "it is no regular file" : strerror(code);
}
