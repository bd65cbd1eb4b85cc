/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line is built in `line`, moved to `waiting` when it is whole, and written from there in chunks
 * of whole lines of at most PIPE_BUF bytes: a pipe takes such a chunk without blocking whenever
 * poll says that it takes anything, and never mixes it with that of another process. Standard error
 * is not made non-blocking, since other processes may share it.
 */
#include "gateway/core/log.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gateway/core/buf.h"
#include "gateway/core/clock.h"
#include "gateway/core/metrics.h"
#include "gateway/core/quote.h"

enum {
    LINE_END = 2,               /* "}\n" */
    WAITING_BYTES = 256 * 1024, /* what a reader may be behind */
    VALUE_BYTES = 512,          /* of a value, before escapes; the rest is cut */
    PATIENCE_MS = 1000 /* how long the reader is waited for where lines are written at once */
};

const char *const log_levels[] = {"debug", "info", "warn", "error", NULL};

static struct {
    enum log_level level;
    struct turn *turn; /* NULL: lines are written at once */
    struct turn_step step;
    bool open;    /* between log_begin and log_end */
    bool skipped; /* the open line is below the level */
    struct buf line, waiting;
    uint64_t dropped; /* lines, not yet reported */
} log_state = {
    .level = LOG_INFO,
    .line = {.max = PIPE_BUF - LINE_END},
    .waiting = {.max = WAITING_BYTES},
};

static void count_dropped(uint64_t lines)
{
    log_state.dropped += lines;
    *metrics_value(METRIC_LOG_DROPPED, NULL, NULL, NULL) += lines;
}

static uint64_t count_lines(struct slice text)
{
    struct slice line;
    uint64_t lines = 0;

    while (slice_cut(text, '\n', &line, &text))
        lines++;
    return lines;
}

/* Building a line */

static void put_key(struct buf *line, const char *key)
{
    buf_append(line, SLICE(",\""));
    buf_append(line, slice_from(key));
    buf_append(line, SLICE("\":"));
}

static void put_string(struct buf *out, struct slice text)
{
    buf_append_char(out, '"');
    quote_append(out, slice_first(text, VALUE_BYTES));
    buf_append(out, text.len > VALUE_BYTES ? SLICE("...\"") : SLICE("\""));
}

/* Takes back a field that did not fit as a whole. */
static void keep_whole(struct buf *line, size_t before)
{
    if (!line->overflow)
        return;
    line->len = before;
    line->overflow = false;
}

static void begin_line(struct buf *line, enum log_level level, const char *event)
{
    char now[CLOCK_ISO_SIZE];

    clock_format_iso(clock_wall_ms(), now);
    buf_clear(line);
    buf_append(line, SLICE("{\"ts\":\""));
    buf_append(line, slice_from(now));
    buf_append(line, SLICE("\",\"level\":\""));
    buf_append(line, slice_from(log_levels[level]));
    buf_append(line, SLICE("\",\"event\":\""));
    buf_append(line, slice_from(event));
    buf_append_char(line, '"');
}

void log_begin(enum log_level level, const char *event)
{
    assert(!log_state.open);
    log_state.open = true;
    log_state.skipped = level < log_state.level;
    if (!log_state.skipped)
        begin_line(&log_state.line, level, event);
}

void log_str(const char *key, struct slice value)
{
    struct buf *line = &log_state.line;
    size_t before = line->len;

    assert(log_state.open);
    if (log_state.skipped || value.len == 0)
        return;
    put_key(line, key);
    put_string(line, value);
    keep_whole(line, before);
}

void log_text(const char *key, const char *value)
{
    log_str(key, slice_from(value));
}

void log_num(const char *key, int64_t value)
{
    struct buf *line = &log_state.line;
    size_t before = line->len;

    assert(log_state.open);
    if (log_state.skipped)
        return;
    put_key(line, key);
    if (value < 0)
        buf_append_char(line, '-');
    buf_append_number(line, value < 0 ? -(uint64_t)value : (uint64_t)value, 1);
    keep_whole(line, before);
}

/* Writing */

enum readiness { BLOCKED, WRITABLE, BROKEN };

static enum readiness wait_for_reader(int ms)
{
    struct pollfd stream = {.fd = STDERR_FILENO, .events = POLLOUT};
    int count = -1;

    do {
        count = poll(&stream, 1, ms);
    } while (count < 0 && errno == EINTR);
    if (count <= 0)
        return BLOCKED;
    return (stream.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0 ? BROKEN : WRITABLE;
}

static size_t chunk_of(struct slice text)
{
    if (text.len <= PIPE_BUF)
        return text.len;
    const char *end = memrchr(text.data, '\n', PIPE_BUF);
    return end ? (size_t)(end - text.data) + 1 : PIPE_BUF;
}

/* Takes from `*rest` what one write took. */
static enum readiness write_some(struct slice *rest, int ms)
{
    enum readiness readiness = wait_for_reader(ms);

    if (readiness != WRITABLE)
        return readiness;
    ssize_t written = write(STDERR_FILENO, rest->data, chunk_of(*rest));
    if (written > 0)
        *rest = slice_from_at(*rest, (size_t)written);
    else if (errno != EINTR)
        return errno == EAGAIN ? BLOCKED : BROKEN;
    return WRITABLE;
}

/* Writes what waits, as long as the reader takes something every `ms`. What has no reader at all is
 * dropped, and nobody is left to be told so. */
static void flush(int ms)
{
    struct slice rest = buf_slice(&log_state.waiting);
    enum readiness readiness = WRITABLE;

    while (rest.len > 0 && readiness == WRITABLE)
        readiness = write_some(&rest, ms);
    if (readiness == BROKEN) {
        *metrics_value(METRIC_LOG_DROPPED, NULL, NULL, NULL) += count_lines(rest);
        rest = (struct slice){0};
    }
    buf_consume(&log_state.waiting, log_state.waiting.len - rest.len);
}

static bool add_line(struct buf *line)
{
    struct buf *waiting = &log_state.waiting;

    if (!buf_reserve(waiting, line->len + LINE_END)) {
        waiting->overflow = false;
        return false;
    }
    return buf_append(waiting, buf_slice(line)) && buf_append(waiting, SLICE("}\n"));
}

static void report_dropped(void)
{
    struct buf line = BUF_INIT(PIPE_BUF - LINE_END);

    if (log_state.dropped == 0)
        return;
    begin_line(&line, LOG_WARN, "log_dropped");
    put_key(&line, "lines");
    buf_append_number(&line, log_state.dropped, 1);
    if (add_line(&line))
        log_state.dropped = 0;
    buf_release(&line);
}

/* Drops what waits because its reader did not take it in time. */
static void give_up(void)
{
    if (log_state.waiting.len == 0)
        return;
    count_dropped(count_lines(buf_slice(&log_state.waiting)));
    buf_clear(&log_state.waiting);
}

static void on_turn_end(struct turn_step *step)
{
    flush(0);
    if (log_state.waiting.len == 0) {
        report_dropped();
        flush(0);
    }
    if (log_state.waiting.len > 0)
        turn_want(step);
}

void log_end(void)
{
    assert(log_state.open);
    log_state.open = false;
    if (log_state.skipped)
        return;
    report_dropped();
    if (!add_line(&log_state.line)) {
        flush(0);
        if (!add_line(&log_state.line))
            count_dropped(1);
    }
    if (log_state.turn) {
        turn_want(&log_state.step);
        return;
    }
    flush(PATIENCE_MS);
    give_up();
}

void log_note(enum log_level level, const char *event, const char *format, ...)
{
    char text[VALUE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    log_begin(level, event);
    log_text("text", text);
    log_end();
}

void log_open(enum log_level level, struct turn *turn)
{
    assert(!log_state.turn);
    log_state.level = level;
    log_state.turn = turn;
    log_state.step = (struct turn_step){.run = on_turn_end};
    if (turn)
        turn_add_late_step(turn, &log_state.step);
}

void log_set_level(enum log_level level)
{
    log_state.level = level;
}

void log_close(void)
{
    if (log_state.turn)
        turn_remove_step(log_state.turn, &log_state.step);
    log_state.turn = NULL;
    report_dropped();
    flush(PATIENCE_MS);
    give_up();
    buf_release(&log_state.line);
    buf_release(&log_state.waiting);
}
