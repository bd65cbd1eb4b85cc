/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace: the trace that a request belongs to, as W3C Trace Context (a Recommendation of 2021) has
 * it in the headers `traceparent` and `tracestate`.
 *
 * wakegate begins no spans: it passes both on as they came, and logs the trace's id. What is not
 * well-formed is as if it were not there, as the Recommendation wants.
 */
#ifndef WAKEGATE_CORE_TRACE_H
#define WAKEGATE_CORE_TRACE_H

#include "gateway/core/request.h"

enum { TRACE_PARENT_BYTES = 55, TRACE_STATE_BYTES = 512 };

struct trace {
    struct slice parent; /* "00-<trace id>-<span id>-<flags>", TRACE_PARENT_BYTES; empty: none */
    struct slice state;  /* at most TRACE_STATE_BYTES of printable ASCII; empty: none */
};

/* Borrowed from the request. */
struct trace trace_read(const struct request *request);

/* 32 hex digits; empty where there is no trace. */
struct slice trace_id(const struct trace *trace);

#endif
