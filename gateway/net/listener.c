/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/net/listener.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gateway/core/buf.h"

enum { BACKLOG = 1024 };

/* Does somebody listen on this socket file? Where that is not sure, yes. */
static bool is_taken(const union address *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool stale =
        fd >= 0 && connect(fd, &address->any, address_len(address)) != 0 && errno == ECONNREFUSED;

    if (fd >= 0)
        close(fd);
    return !stale;
}

/* true: nothing stands in the way of a new socket file. */
static bool make_way(const union address *address, struct err *err)
{
    const char *path = address->local.sun_path;
    struct stat file;

    if (lstat(path, &file) != 0)
        return true; /* bind says what else may be wrong */
    if (!S_ISSOCK(file.st_mode))
        return err_set(err, "there is a file already that is no socket");
    if (is_taken(address))
        return err_set(err, "somebody listens there already");
    if (unlink(path) != 0)
        return err_set(err, "the old socket file cannot be removed: %s", strerror(errno));
    return true;
}

/* -1, and errno, on failure. */
static int open_socket(const union address *address, bool listening)
{
    const int on = 1, off = 0;
    int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    if (address->any.sa_family != AF_UNIX) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* of what it accepts, too */
    }
    if (address->any.sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(fd, &address->any, address_len(address)) == 0 &&
        (!listening || listen(fd, BACKLOG) == 0))
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static bool lacks_ipv6(const union address *address)
{
    return address->any.sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&address->six.sin6_addr) &&
           (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL);
}

static int open_either(union address *address, bool listening)
{
    int fd = open_socket(address, listening);

    if (fd >= 0 || !lacks_ipv6(address))
        return fd;
    in_port_t port = address->six.sin6_port;
    *address = (union address){.four = {.sin_family = AF_INET, .sin_port = port}};
    return open_socket(address, listening);
}

bool listener_open(struct listener *listener, struct slice text, struct err *err)
{
    union address address;
    struct stat file;

    if (!address_parse(text, &address, err))
        return err_wrap(err, "listen address \"%.*s\"", SLICE_ARG(text));
    bool is_unix = address.any.sa_family == AF_UNIX;
    if (is_unix && !make_way(&address, err))
        return err_wrap(err, "cannot listen on \"%.*s\"", SLICE_ARG(text));
    int fd = open_either(&address, true);
    if (fd < 0)
        return err_set(err, "cannot listen on \"%.*s\": %s", SLICE_ARG(text), strerror(errno));
    *listener = (struct listener){.fd = fd, .address = address};
    if (is_unix && lstat(address.local.sun_path, &file) == 0) {
        listener->device = file.st_dev;
        listener->inode = file.st_ino;
    }
    socklen_t len = sizeof(listener->address);
    if (!is_unix)
        getsockname(fd, &listener->address.any, &len);
    return true;
}

static enum listener_place look_at_file(const union address *address, struct err *err)
{
    char *directory = mem_text(slice_from(address->local.sun_path)),
         *slash = strrchr(directory, '/');
    struct stat file;
    enum listener_place place = LISTENER_FREE;

    if (slash)
        slash[slash == directory ? 1 : 0] = '\0';
    if (lstat(address->local.sun_path, &file) == 0 && !S_ISSOCK(file.st_mode)) {
        err_set(err, "there is a file already that is no socket");
        place = LISTENER_IMPOSSIBLE;
    } else if (lstat(address->local.sun_path, &file) == 0 && is_taken(address)) {
        place = LISTENER_TAKEN;
    } else if (access(slash ? directory : ".", W_OK | X_OK) != 0) {
        err_set(err, "its directory: %s", strerror(errno));
        place = LISTENER_IMPOSSIBLE;
    }
    free(directory);
    return place;
}

enum listener_place listener_look(struct slice text, struct err *err)
{
    union address address;

    if (!address_parse(text, &address, err))
        return LISTENER_IMPOSSIBLE;
    if (address.any.sa_family == AF_UNIX)
        return look_at_file(&address, err);
    int fd = open_either(&address, false), why = errno;
    if (fd >= 0) {
        close(fd);
        return LISTENER_FREE;
    }
    err_set(err, "%s", strerror(why));
    return why == EADDRINUSE ? LISTENER_TAKEN : LISTENER_IMPOSSIBLE;
}

void listener_close(struct listener *listener)
{
    const char *path = listener->address.local.sun_path;
    struct stat file;

    close(listener->fd);
    if (listener->address.any.sa_family != AF_UNIX || lstat(path, &file) != 0)
        return;
    if (file.st_dev == listener->device && file.st_ino == listener->inode)
        unlink(path);
}
