/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captured requests of `wakegate verify`: one that can be read, written down again with a length or
 * in chunks, reads as the same headers and the same body.
 */
#include "tests/fuzz/fuzz.h"

#include "gateway/cli/capture.h"

enum { TEXT_BYTES = 2 * CAPTURE_BYTES };

static bool is_framing(struct slice name)
{
    return slice_eq_nocase(name, SLICE("Content-Length")) ||
           slice_eq_nocase(name, SLICE("Transfer-Encoding"));
}

static void write_head(const struct request *request, struct buf *text)
{
    buf_append(text, SLICE("POST / HTTP/1.1\r\n"));
    for (size_t i = 0; i < request->header_count; i++) {
        if (is_framing(request->headers[i].name))
            continue;
        buf_append(text, request->headers[i].name);
        buf_append(text, SLICE(": "));
        buf_append(text, request->headers[i].value);
        buf_append(text, SLICE("\r\n"));
    }
}

static void write_body(struct slice body, bool chunked, struct buf *text)
{
    if (!chunked) {
        buf_appendf(text, "Content-Length: %zu\r\n\r\n", body.len);
        buf_append(text, body);
        return;
    }
    buf_append(text, SLICE("Transfer-Encoding: chunked\r\n\r\n"));
    while (body.len > 0) {
        const struct slice chunk = slice_first(body, 7);
        buf_appendf(text, "%zX;x=y\r\n", chunk.len);
        buf_append(text, chunk);
        buf_append(text, SLICE("\r\n"));
        body = slice_from_at(body, chunk.len);
    }
    buf_append(text, SLICE("0\r\n\r\n"));
}

static void check_headers(const struct request *request, const struct request *again)
{
    size_t at = 0;

    for (size_t i = 0; i < request->header_count; i++) {
        if (is_framing(request->headers[i].name))
            continue;
        assert(at < again->header_count);
        assert(slice_eq(again->headers[at].name, request->headers[i].name));
        assert(slice_eq(again->headers[at].value, request->headers[i].value));
        at++;
    }
    assert(again->header_count == at + 1);
}

static void check_again(const struct request *request, bool chunked)
{
    struct buf text = BUF_INIT(TEXT_BYTES);
    struct err err = {.text = ""};
    struct capture again;

    write_head(request, &text);
    write_body(request->body, chunked, &text);
    assert(capture_parse(&again, buf_slice(&text), &err));
    check_headers(request, &again.request);
    assert(slice_eq(again.request.body, request->body));
    capture_release(&again);
    buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = fuzz_copy(fuzz_slice(data, size));
    struct err err = {.text = ""};
    struct capture capture;

    if (capture_parse(&capture, (struct slice){.data = copy, .len = size}, &err)) {
        if (capture.request.header_count < LIMIT_HEADERS) { /* one more is written */
            check_again(&capture.request, false);
            check_again(&capture.request, true);
        }
        capture_release(&capture);
    } else {
        assert(err.text[0]);
    }
    free(copy);
    return 0;
}
