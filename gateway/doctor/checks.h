/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checks: the questions that the doctor asks, one a file. Each adds its findings under its own
 * name, which is the constant beside it. What judges without looking can be asked alone.
 */
#ifndef WAKEGATE_DOCTOR_CHECKS_H
#define WAKEGATE_DOCTOR_CHECKS_H

#include <sys/stat.h>

#include "gateway/doctor/doctor.h"

#define CHECK_CONFIG      "config"
#define CHECK_FILE        "file"
#define CHECK_ENVIRONMENT "environment"
#define CHECK_DESCRIPTORS "descriptors"
#define CHECK_LISTEN      "listen"
#define CHECK_STORE       "store"
#define CHECK_CLOCK       "clock"
#define CHECK_TARGET      "target"
#define CHECK_ROUTE       "route"

void check_config(struct doctor *doctor);       /* what reading it warned of */
void check_files(struct doctor *doctor);        /* who may read the config and the secrets */
void check_environment(struct doctor *doctor);  /* variables that other programs heed */
void check_descriptors(struct doctor *doctor);  /* are there enough */
void check_listen(struct doctor *doctor);       /* may it listen, or who does */
void check_store(struct doctor *doctor);        /* round trip, server, policy, room on the disk */
void check_clock(struct doctor *doctor);        /* against AgentChat's */
void check_targets(struct doctor *doctor);      /* names, addresses, connections, certificates */
void check_targets_free(struct doctor *doctor); /* when no look-up hangs */
void check_routes(struct doctor *doctor);       /* what a wake on each would do */

/* What is wrong with a file that has this mode; NULL: nothing. */
const char *file_fault(mode_t mode, bool is_secret);

/* A clock that is off by `off_ms`, where a signed request may be `tolerance_ms` old. */
enum level clock_level(int64_t off_ms, int64_t tolerance_ms);
/* The Date of an HTTP answer's head. false: it has none. */
bool clock_date(struct slice answer, int64_t *wall_ms);
/* The store's clock, which the check of the store asked for between two moments of this one. */
void clock_of_store(struct doctor *doctor, int64_t store_ms, int64_t before_ms, int64_t after_ms);

/* A certificate that ends at `end_ms`. */
enum level certificate_level(int64_t end_ms, int64_t now_ms);

/* Room on the disk of a store in a file. */
enum level room_level(uint64_t bytes);

#endif
