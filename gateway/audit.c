/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/audit.h"

#include "gateway/core/clock.h"
#include "gateway/core/log.h"
#include "gateway/core/metrics.h"

/* Counts and logs one answered request. Strangers choose the path, so only a known route is named.
 */
void audit_answer(const struct exchange *exchange, const struct route *route, enum answer_code code,
                  const struct wake *wake, const struct outcome *outcome, const char *why)
{
    uint64_t took_us = clock_steady_us() - exchange->began_us;
    unsigned status = answer_status(code);

    if (route)
        ++*metrics_value(METRIC_WAKES, route->name, answer_code_name(code), NULL);
    else
        ++*metrics_value(METRIC_REQUESTS_REFUSED, answer_code_name(code), NULL, NULL);
    histogram_observe(metrics_histogram(METRIC_INTAKE_SECONDS, NULL, NULL), took_us);
    log_begin(status < 400 ? LOG_INFO : LOG_WARN, "wake");
    log_text("route", route ? route->name : "");
    log_text("code", answer_code_name(code));
    log_num("status", status);
    log_str("delivery_id", wake ? wake->delivery_id : (struct slice){0});
    log_str("reason", wake ? wake->reason : (struct slice){0});
    log_text("run", outcome ? outcome->run : "");
    log_text("detail", outcome ? outcome->detail : why);
    log_text("peer", exchange->peer);
    log_num("us", (int64_t)took_us);
    log_end();
}

void audit_refuse(struct exchange *exchange, const struct route *route, enum answer_code code,
                  const char *why, const char *public_why)
{
    audit_answer(exchange, route, code, NULL, NULL, why);
    answer_error(exchange, code, public_why);
}
