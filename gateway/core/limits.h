/* SPDX-License-Identifier: Apache-2.0 */
/* limits: every bound on what comes from outside, in one list. Those that are settings are
 * defaults. */
#ifndef WAKEGATE_CORE_LIMITS_H
#define WAKEGATE_CORE_LIMITS_H

enum {
    /* one request */
    LIMIT_BODY_BYTES = 65536, /* setting max_body; a wake is 400 bytes, a text at most 64 KiB */
    LIMIT_BODY_MEMORY = 64 * 1024 * 1024, /* setting body_memory: all bodies that come in */
    LIMIT_HEADERS = 64,                   /* header fields of one request */
    LIMIT_SIGNATURES = 16,                /* signatures listed in one header */
    LIMIT_JSON_DEPTH = 64,                /* nesting of a wake's JSON */
    LIMIT_CONVERSATIONS = 256,            /* conversations kept of one wake */
    LIMIT_DELIVERY_ID_BYTES = 128,
    /* one route */
    LIMIT_SECRETS = 8,
    LIMIT_SECRET_BYTES = 1024,
    LIMIT_NAME_BYTES = 64, /* route names and target ids */
    LIMIT_PROMPT_BYTES = 16384,
    LIMIT_CHILDREN = 16, /* targets in one `first` or `all` */
    LIMIT_GATHERED = 64, /* wakes in one delivery */
    /* one process */
    LIMIT_IN_FLIGHT = 1000, /* setting max_in_flight */
    LIMIT_URL_BYTES = 2048,
    LIMIT_CONFIG_BYTES = 16 * 1024 * 1024,
    /* one outgoing request */
    LIMIT_ANSWER_BYTES = 65536,        /* read of a runtime's answer; the rest is not read */
    LIMIT_ANSWER_HEADER_BYTES = 32768, /* more is no answer */
    LIMIT_OUT_BODY_BYTES = 1024 * 1024,
    LIMIT_RETRY_AFTER_S = 3600 /* what a Retry-After is clamped to */
};

#endif
