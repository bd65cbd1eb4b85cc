/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/cli/capture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK_DIGITS = 8 };

/* Cuts off the first line, without its end. false: `*bytes` is empty. */
static bool next_line(struct slice *bytes, struct slice *line)
{
    if (bytes->len == 0)
        return false;
    slice_cut(*bytes, '\n', line, bytes);
    if (slice_ends(*line, SLICE("\r")))
        line->len--;
    return true;
}

static bool is_request_line(struct slice line)
{
    struct slice method, target, rest, version;

    return slice_cut(line, ' ', &method, &rest) && slice_cut(rest, ' ', &target, &version) &&
           slice_is_visible(method) && slice_is_visible(target) &&
           slice_starts(version, SLICE("HTTP/")) && slice_is_visible(version);
}

static bool add_header(struct request *request, struct slice line, struct err *err)
{
    struct slice name, value;

    if (request->header_count == LIMIT_HEADERS)
        return err_set(err, "more than %d headers", LIMIT_HEADERS);
    if (!slice_cut(line, ':', &name, &value) || !slice_is_visible(name))
        return err_set(err, "header %zu is not \"Name: value\"", request->header_count + 1);
    if (memchr(value.data ? value.data : "", '\0', value.len) || memchr(line.data, '\r', line.len))
        return err_set(err, "header %zu has a control character in its value",
                       request->header_count + 1);
    request->headers[request->header_count++] =
        (struct header){.name = name, .value = slice_trim(value)};
    return true;
}

static bool read_head(struct request *request, struct slice *bytes, struct err *err)
{
    struct slice line;

    if (!next_line(bytes, &line) || !is_request_line(line))
        return err_set(err, "the first line is no request line, such as \"POST /wake HTTP/1.1\"");
    while (next_line(bytes, &line)) {
        if (line.len == 0)
            return true;
        if (!add_header(request, line, err))
            return false;
    }
    return err_set(err, "no blank line after the headers");
}

static bool hex_number(struct slice text, size_t *number)
{
    *number = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.data[i];
        const char *digits = "0123456789abcdef", *upper = "0123456789ABCDEF";
        const char *at = c ? strchr(digits, c) : NULL;
        if (!at && c && strchr(upper, c))
            at = digits + (strchr(upper, c) - upper);
        if (!at)
            return false;
        *number = *number * 16 + (size_t)(at - digits);
    }
    return text.len > 0 && text.len <= CHUNK_DIGITS;
}

static bool join_chunks(struct capture *capture, struct slice rest, struct err *err)
{
    struct slice line, digits, extension;
    size_t size = 0;

    capture->joined = (struct buf)BUF_INIT(CAPTURE_BYTES);
    do {
        if (!next_line(&rest, &line))
            return err_set(err, "the chunked body is cut short");
        slice_cut(line, ';', &digits, &extension);
        if (!hex_number(slice_trim(digits), &size))
            return err_set(err, "the body is not chunked, as Transfer-Encoding says; if the chunks "
                                "were put together already, take that header out");
        if (size > rest.len)
            return err_set(err, "the chunked body is cut short");
        buf_append(&capture->joined, slice_first(rest, size));
        rest = slice_from_at(rest, size);
        if (size > 0 && (!next_line(&rest, &line) || line.len > 0))
            return err_set(err, "a chunk is longer than it says");
    } while (size > 0);
    capture->request.body = buf_slice(&capture->joined);
    return true;
}

static bool is_line_end(struct slice text)
{
    return slice_eq(text, SLICE("\n")) || slice_eq(text, SLICE("\r\n"));
}

static bool measure(struct request *request, struct slice length, struct err *err)
{
    uint64_t bytes;

    if (!slice_number(length, &bytes))
        return err_set(err, "Content-Length is no number");
    if (request->body.len < bytes)
        return err_set(err, "the body is cut short: %zu bytes, where Content-Length says %llu",
                       request->body.len, (unsigned long long)bytes);
    const struct slice more = slice_from_at(request->body, (size_t)bytes);
    if (more.len > 0 && !is_line_end(more))
        return err_set(err, "the body has %zu bytes more than Content-Length says", more.len);
    request->body = slice_first(request->body, (size_t)bytes);
    return true;
}

static bool read_body(struct capture *capture, struct slice rest, struct err *err)
{
    struct request *request = &capture->request;
    struct slice coding = {0}, length = {0}, transfer = {0};

    request->body = rest;
    request_header(request, SLICE("Content-Encoding"), &coding);
    if (coding.len > 0 && !slice_eq_nocase(coding, SLICE("identity")))
        return err_set(err, "the body is compressed, which the gateway does not take");
    const enum header_found chunked =
        request_header(request, SLICE("Transfer-Encoding"), &transfer);
    const enum header_found sized = request_header(request, SLICE("Content-Length"), &length);
    if (chunked == HEADER_REPEATED || sized == HEADER_REPEATED)
        return err_set(err, "Transfer-Encoding or Content-Length stands there more than once");
    if (chunked == HEADER_FOUND && !slice_eq_nocase(transfer, SLICE("chunked")))
        return err_set(err, "a Transfer-Encoding other than chunked");
    if (chunked == HEADER_FOUND)
        return join_chunks(capture, rest, err);
    return sized == HEADER_ABSENT || measure(request, length, err);
}

bool capture_parse(struct capture *capture, struct slice bytes, struct err *err)
{
    *capture = (struct capture){.request = {.header_count = 0}};
    if (read_head(&capture->request, &bytes, err) && read_body(capture, bytes, err))
        return true;
    capture_release(capture);
    return false;
}

void capture_release(struct capture *capture)
{
    buf_release(&capture->joined);
}

bool capture_read(const char *path, struct buf *into, struct err *err)
{
    enum { PIECE = 16384 };
    const bool standard_input = !path || strcmp(path, "-") == 0;
    char piece[PIECE];
    size_t len;

    FILE *file = standard_input ? stdin : fopen(path, "rb");
    if (!file)
        return err_set(err, "%s: %s", path, strerror(errno));
    do {
        len = fread(piece, 1, PIECE, file);
        buf_append(into, (struct slice){.data = piece, .len = len});
    } while (len == PIECE && !into->overflow);
    const bool broken = ferror(file) != 0;
    if (!standard_input)
        fclose(file);
    if (broken)
        return err_set(err, "%s: cannot be read", standard_input ? "standard input" : path);
    if (into->overflow)
        return err_set(err, "%s: more than %zu bytes", standard_input ? "standard input" : path,
                       into->max);
    return true;
}
