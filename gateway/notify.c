/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gateway/core/clock.h"
#include "gateway/core/log.h"
#include "gateway/core/op.h"

enum { MESSAGE_BYTES = 128, PATIENCE_S = 1, SPARE_MS = 10000 };

static void complain(const char *what, const char *why)
{
    log_note(LOG_WARN, "notify_failed", "the service manager cannot be told: %s: %s", what, why);
}

static void tell(struct notify *notify, const char *message, int flags)
{
    if (notify->fd < 0)
        return;
    ssize_t sent = sendto(notify->fd, message, strlen(message), flags | MSG_NOSIGNAL,
                          (const struct sockaddr *)&notify->manager, notify->manager_len);
    if (sent < 0)
        complain(message, strerror(errno));
}

/* false: it is no address of a unix socket. */
static bool read_address(const char *text, struct notify *notify)
{
    size_t len = strlen(text);

    if ((text[0] != '/' && text[0] != '@') || len < 2 || len >= sizeof(notify->manager.sun_path))
        return false;
    notify->manager = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(notify->manager.sun_path, text, len);
    if (text[0] == '@')
        notify->manager.sun_path[0] = '\0';
    /* The NUL after a path counts, one after an abstract name would be a part of it. */
    notify->manager_len =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (text[0] == '/' ? 1 : 0));
    return true;
}

static void open_socket(struct notify *notify, const char *address)
{
    const struct timeval patience = {.tv_sec = PATIENCE_S};

    if (!address || !*address)
        return;
    if (!read_address(address, notify)) {
        complain("NOTIFY_SOCKET", "neither a path nor an abstract name");
        return;
    }
    notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (notify->fd < 0)
        complain("socket", strerror(errno));
    else
        setsockopt(notify->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

/* A watchdog of another process (WATCHDOG_PID) is none of ours. */
static uint64_t read_interval(const char *usec, const char *pid)
{
    uint64_t whole = 0, owner = (uint64_t)getpid();

    if (!usec)
        return 0;
    if (!slice_number(slice_from(usec), &whole) ||
        (pid && !slice_number(slice_from(pid), &owner))) {
        complain("WATCHDOG_USEC", "not a number");
        return 0;
    }
    uint64_t half_ms = whole / 2000;
    if (owner != (uint64_t)getpid() || whole == 0)
        return 0;
    return half_ms > 0 ? half_ms : 1;
}

static void give_sign(struct deadline *deadline)
{
    struct notify *notify = CONTAINER_OF(deadline, struct notify, signal);

    tell(notify, "WATCHDOG=1", MSG_DONTWAIT);
    deadline_set(deadline, notify->every_ms);
}

void notify_open(struct notify *notify, uv_loop_t *loop)
{
    *notify = (struct notify){.fd = -1};
    deadline_open(&notify->signal, loop, give_sign);
    open_socket(notify, getenv("NOTIFY_SOCKET"));
    if (notify->fd >= 0)
        notify->every_ms = read_interval(getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"));
    if (notify->every_ms > 0)
        deadline_set(&notify->signal, notify->every_ms);
}

void notify_ready(struct notify *notify)
{
    tell(notify, "READY=1", 0);
}

void notify_reloading(struct notify *notify)
{
    char message[MESSAGE_BYTES];

    snprintf(message, sizeof(message), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clock_steady_us());
    tell(notify, message, 0);
}

void notify_stopping(struct notify *notify, uint64_t ms)
{
    char message[MESSAGE_BYTES];

    snprintf(message, sizeof(message), "STOPPING=1\nEXTEND_TIMEOUT_USEC=%" PRIu64,
             (ms + SPARE_MS) * 1000);
    tell(notify, message, 0);
}

void notify_close(struct notify *notify)
{
    deadline_close(&notify->signal, NULL);
    if (notify->fd >= 0)
        close(notify->fd);
    notify->fd = -1;
}
