/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/audit.h"

#include "gateway/core/clock.h"
#include "gateway/core/log.h"
#include "gateway/core/metrics.h"

static void count(const struct finding *finding, uint64_t took_us)
{
    const char *code = answer_code_name(finding->code);

    if (finding->route)
        ++*metrics_kept(&finding->route->counts->wakes[finding->code], METRIC_WAKES,
                        finding->route->name, code, NULL);
    else
        ++*metrics_value(METRIC_REQUESTS_REFUSED, code, NULL, NULL);
    histogram_observe(metrics_histogram(METRIC_INTAKE_SECONDS, NULL, NULL), took_us);
}

static void log_wake(const struct wake *wake)
{
    log_str("delivery_id", wake->delivery_id);
    log_str("reason", wake->reason);
    log_str("handle", wake->handle);
    log_str("trace_id", trace_id(&wake->trace));
    if (wake->attempt > 0)
        log_num("attempt", wake->attempt);
}

static void log_outcome(const struct outcome *outcome)
{
    log_text("target", outcome->target);
    log_text("run", outcome->run);
    log_text("detail", outcome->detail);
    if (outcome->retry_after_ms > 0)
        log_num("retry_after_ms", outcome->retry_after_ms);
}

void audit(const struct exchange *exchange, const struct finding *finding)
{
    uint64_t took_us = clock_steady_us() - exchange->began_us;
    unsigned status = answer_status(finding->code);

    count(finding, took_us);
    log_begin(status < 400 ? LOG_INFO : LOG_WARN, "wake");
    log_text("route", finding->route ? finding->route->name : NULL);
    log_text("code", answer_code_name(finding->code));
    log_num("status", status);
    if (finding->wake)
        log_wake(finding->wake);
    if (finding->outcome)
        log_outcome(finding->outcome);
    log_text("why", finding->why);
    log_text("peer", exchange->peer);
    log_num("us", (int64_t)took_us);
    log_end();
}

void audit_refuse(struct exchange *exchange, const struct finding *finding, const char *public_why)
{
    audit(exchange, finding);
    answer_error(exchange, finding->code, public_why);
}
