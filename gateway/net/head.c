/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/net/head.h"

enum { SHORT_BODY_BYTES = 65536 };

/* token of RFC 9110, section 5.6.2 */
static bool is_token_char(char c)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";

    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        return true;
    for (size_t i = 0; i < sizeof(marks) - 1; i++)
        if (c == marks[i])
            return true;
    return false;
}

static bool is_token(struct slice name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!is_token_char(name.data[i]))
            return false;
    return name.len > 0;
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

static bool is_field_value(struct slice value)
{
    for (size_t i = 0; i < value.len; i++)
        if (is_control(value.data[i]) && value.data[i] != '\t')
            return false;
    return true;
}

static bool are_well_formed(const struct request *request)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (!is_token(request->headers[i].name) || !is_field_value(request->headers[i].value))
            return false;
    return true;
}

/* What the library leaves of a colon or of line ends: NULs, of CRLF and LF alike, or the line end
 * itself with one NUL before it; blanks only before that, and behind a colon. */
static bool is_gap(const char *from, const char *to, unsigned most_nuls)
{
    const unsigned nuls_before_blanks = most_nuls == 1 ? 1 : 0;
    unsigned nuls = 0;

    for (const char *at = from; at < to; at++) {
        bool blank = *at == ' ' || *at == '\t';
        if (*at == '\0')
            nuls++;
        else if (*at != '\r' && *at != '\n' && (!blank || nuls > nuls_before_blanks))
            return false;
    }
    return from < to && nuls <= most_nuls;
}

/* libmicrohttpd 0.9.75 cuts values at a NUL, glues folded lines to the wrong field and takes a line
 * that begins with a colon for the end of the head. All of it leaves its bytes between the fields.
 */
static bool is_seamless(const struct request *request, struct slice version, const char *end)
{
    const char *at = version.data + version.len;

    for (size_t i = 0; i < request->header_count; i++) {
        struct slice name = request->headers[i].name, value = request->headers[i].value;
        if (!is_gap(at, name.data, 2) || !is_gap(name.data + name.len, value.data, 1))
            return false;
        at = value.data + value.len;
    }
    return is_gap(at, end, 4);
}

bool head_line_is_whole(struct slice method, struct slice path, size_t target_len,
                        struct slice version)
{
    const char *at = method.data + method.len + 1;

    while (at < path.data && *at == ' ')
        at++;
    if (at != path.data || path.data + target_len + 1 != version.data)
        return false;
    for (; at < version.data; at++) /* the library has put NULs and blanks into the query */
        if (is_control(*at) && *at != '\0')
            return false;
    return true;
}

static bool read_length(const struct request *request, struct head *head)
{
    struct slice value;
    enum header_found found = request_header(request, SLICE("Content-Length"), &value);

    if (found == HEADER_ABSENT)
        return true;
    head->has_length = found == HEADER_FOUND && slice_number(value, &head->length);
    return head->has_length;
}

static bool read_coding(const struct request *request, bool one_one, struct head *head)
{
    struct slice value;
    enum header_found found = request_header(request, SLICE("Transfer-Encoding"), &value);

    if (found == HEADER_ABSENT)
        return true;
    head->chunked = found == HEADER_FOUND && slice_eq_nocase(value, SLICE("chunked"));
    return head->chunked && one_one && !head->has_length;
}

static void read_expectation(const struct request *request, bool one_one, struct head *head)
{
    struct slice value;
    enum header_found found = request_header(request, SLICE("Expect"), &value);

    if (found == HEADER_ABSENT || !one_one) /* RFC 9110, section 10.1.1: 1.0 cannot expect */
        return;
    bool known = found == HEADER_FOUND && slice_eq_nocase(value, SLICE("100-continue"));
    head->expectation = known ? EXPECT_CONTINUE : EXPECT_UNKNOWN;
}

bool head_read(const struct request *request, struct slice version, const char *end,
               struct head *head)
{
    bool one_one = slice_eq(version, SLICE("HTTP/1.1"));
    struct slice host;

    if (!one_one && !slice_eq(version, SLICE("HTTP/1.0")))
        return false;
    if (!are_well_formed(request) || (end && !is_seamless(request, version, end)))
        return false;
    enum header_found hosts = request_header(request, SLICE("Host"), &host);
    if (hosts == HEADER_REPEATED || (hosts == HEADER_ABSENT && one_one))
        return false;
    *head = (struct head){.expectation = EXPECT_NOTHING};
    if (!read_length(request, head) || !read_coding(request, one_one, head))
        return false;
    read_expectation(request, one_one, head);
    return true;
}

bool head_has_body(const struct head *head)
{
    return head->chunked || head->length > 0;
}

bool head_body_is_short(const struct head *head)
{
    return !head->chunked && head->length <= SHORT_BODY_BYTES &&
           head->expectation == EXPECT_NOTHING;
}
