/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config_watch: tells when a file that the config was read from is another than it was: edited,
 * replaced, or under a directory that was exchanged (as Kubernetes does it, by a symbolic link).
 *
 * The directories are watched, since a file that is replaced takes its watch with it; whatever
 * stirs there, the files are looked at a moment later, and only a change of theirs is told. A
 * directory on a network file system may not tell; then SIGHUP remains.
 */
#ifndef WAKEGATE_GATEWAY_CONFIG_WATCH_H
#define WAKEGATE_GATEWAY_CONFIG_WATCH_H

#include "gateway/core/buf.h"
#include "gateway/core/deadline.h"

struct config_watch {
    uv_loop_t *loop;
    struct deadline deadline; /* from the first stir to the look at the files */
    bool stirred;
    struct directory *directories;
    struct buf files;                            /* as in struct settings_report */
    void (*changed)(struct config_watch *watch); /* from the loop; the caller follows anew */
};

/* The caller's memory until the loop is closed. */
void config_watch_open(struct config_watch *watch, uv_loop_t *loop,
                       void (*changed)(struct config_watch *watch));
/* From now on these files, of which a copy is kept; empty: none. What changed since they were read
 * is told soon. */
void config_watch_follow(struct config_watch *watch, struct slice files);
void config_watch_close(struct config_watch *watch);

#endif
