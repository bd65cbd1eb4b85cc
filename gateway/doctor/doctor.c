/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/doctor/doctor.h"

#include <signal.h>
#include <stdlib.h>

#include "gateway/core/clock.h"
#include "gateway/doctor/checks.h"

/* Names that nobody answers for keep a thread each for a while. */
#define LOOKUP_THREADS "64"

enum { AWAKE_MS = 20, CLOSE_MS = 500 };

static void (*const checks[])(struct doctor *doctor) = {
    check_config, check_files, check_environment, check_descriptors, check_listen,
    check_store,  check_clock, check_targets,     check_routes};

const char *const doctor_checks[] = {
    CHECK_CONFIG, CHECK_FILE,  CHECK_ENVIRONMENT, CHECK_DESCRIPTORS, CHECK_LISTEN,
    CHECK_STORE,  CHECK_CLOCK, CHECK_TARGET,      CHECK_ROUTE,       NULL};

void doctor_begin(struct doctor *doctor)
{
    doctor->running++;
}

void doctor_end(struct doctor *doctor)
{
    if (--doctor->running == 0)
        uv_stop(&doctor->loop);
}

static void stay_awake(uv_timer_t *timer)
{
    (void)timer;
}

/* Waits a moment for what is closing; what lasts longer is a look-up. */
static void let_go(struct doctor *doctor)
{
    uint64_t until_us = clock_steady_us() + CLOSE_MS * UINT64_C(1000);

    uv_unref((uv_handle_t *)&doctor->awake);
    while (uv_loop_alive(&doctor->loop) && clock_steady_us() < until_us)
        uv_run(&doctor->loop, UV_RUN_ONCE);
    doctor->hanging = uv_loop_alive(&doctor->loop);
}

void doctor_run(struct doctor *doctor, const struct config *config,
                const struct settings_report *report, const char *agentchat_url)
{
    *doctor = (struct doctor){.config = config, .report = report, .agentchat_url = agentchat_url};
    setenv("UV_THREADPOOL_SIZE", LOOKUP_THREADS, 0);
    signal(SIGPIPE, SIG_IGN);
    uv_loop_init(&doctor->loop);
    turn_open(&doctor->turn, &doctor->loop);
    uv_timer_init(&doctor->loop, &doctor->awake);
    uv_timer_start(&doctor->awake, stay_awake, AWAKE_MS, AWAKE_MS);
    doctor_begin(doctor);
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
        checks[i](doctor);
    if (--doctor->running > 0)
        uv_run(&doctor->loop, UV_RUN_DEFAULT);
    turn_close(&doctor->turn);
    let_go(doctor);
    if (doctor->hanging)
        return;
    uv_close((uv_handle_t *)&doctor->awake, NULL);
    uv_run(&doctor->loop, UV_RUN_DEFAULT);
    check_targets_free(doctor);
    uv_loop_close(&doctor->loop);
}
