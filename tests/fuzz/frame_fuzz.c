/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A body that one dialect can decode, spoken in another: what is framed verifies, decodes to the
 * same wake and frames to the same bytes, and with one bit changed it does not verify.
 *
 * The first line is five digits: the dialect that decodes, the one that frames, its variant, its
 * scheme, and where a bit is changed. The rest is the body.
 */
#include "tests/fuzz/speech.h"

enum { FRAME_BYTES = 1024 * 1024 };

struct framing {
    const struct dialect *dialect;
    struct trigger_speech speech;
    struct outgoing out;
};

static unsigned digit(struct slice *input)
{
    return (fuzz_byte(input) - '0') & 0xff;
}

static void choose(struct framing *framing, unsigned dialect, unsigned variant, unsigned scheme)
{
    unsigned schemes = 0;

    framing->dialect = speech_dialect(dialect);
    while (framing->dialect->schemes[schemes])
        schemes++;
    framing->speech.variant = variant % (unsigned)framing->dialect->variant_count;
    framing->speech.scheme = scheme % schemes;
    const char *name = framing->dialect->schemes[framing->speech.scheme];
    framing->speech.secret = &speech_keys()[strcmp(name, "v1a") == 0];
    framing->speech.prompt = SLICE("Read the tray.");
    framing->speech.handle = SLICE("@route");
}

static bool frame(struct framing *framing, const struct wake *wake, struct err *err)
{
    framing->out =
        (struct outgoing){.headers = BUF_INIT(FRAME_BYTES), .body = BUF_INIT(FRAME_BYTES)};
    return framing->dialect->frame(wake, &framing->speech, wake->delivery_id, SPEECH_NOW_MS,
                                   &framing->out, err);
}

static void release(struct framing *framing)
{
    buf_release(&framing->out.headers);
    buf_release(&framing->out.body);
}

static void check_same_bytes(const struct framing *framing, const struct wake *wake)
{
    struct framing again = *framing;

    assert(frame(&again, wake, NULL));
    assert(slice_eq(buf_slice(&again.out.headers), buf_slice(&framing->out.headers)));
    assert(slice_eq(buf_slice(&again.out.body), buf_slice(&framing->out.body)));
    release(&again);
}

static bool carries_fields(const struct framing *framing)
{
    const char *variant = framing->dialect->variants[framing->speech.variant].name;

    return !framing->dialect->carries_text || (variant && strcmp(variant, "webhook") == 0);
}

static void check_same_wake(const struct framing *framing, const struct wake *sent,
                            const struct wake *got)
{
    assert(slice_eq(got->delivery_id, sent->delivery_id));
    assert((got->text.len > 0) == framing->dialect->carries_text);
    if (!carries_fields(framing))
        return;
    const struct slice handle = sent->handle.len > 0 ? sent->handle : framing->speech.handle;
    assert(slice_eq(got->handle, handle));
    assert(slice_eq(wake_reason(got), wake_reason(sent)));
    assert(sent->summary.len == 0 || slice_eq(got->summary, sent->summary));
    assert(got->version == (sent->version || sent->raw.len > 0 ? sent->version : 1));
    assert(got->step == sent->step && got->test == sent->test);
    assert(sent->ts.len == 0 || slice_eq(got->ts, sent->ts));
    assert(got->conversation_count == sent->conversation_count);
    for (size_t i = 0; i < got->conversation_count; i++) {
        assert(slice_eq(got->conversations[i].id, sent->conversations[i].id));
        assert(got->conversations[i].unread == sent->conversations[i].unread);
        assert(slice_eq(got->conversations[i].latest_sender, sent->conversations[i].latest_sender));
    }
}

/* Of the body, or of a header that takes part in the proof. */
static void check_flipped(struct framing *framing, struct request *request,
                          const struct keyring *keyring, unsigned where)
{
    struct buf *body = &framing->out.body;
    struct proven proven;

    if (speech_is_token(framing->dialect, framing->speech.scheme))
        return;
    char *byte = body->data + where * 31 % body->len;
    *byte ^= (char)(1 << where % 8);
    assert(framing->dialect->verify(request, keyring, SPEECH_NOW_MS, &proven, NULL) != PROOF_OK);
    *byte ^= (char)(1 << where % 8);
    request->body.len--;
    assert(framing->dialect->verify(request, keyring, SPEECH_NOW_MS, &proven, NULL) != PROOF_OK);
}

static void check_framed(struct framing *framing, const struct wake *wake, unsigned where)
{
    const struct keyring keyring = speech_keyring(~0u);
    struct request request;
    struct proven proven;
    struct wake got = {0};

    speech_read_back(&framing->out, &request);
    assert(framing->dialect->verify(&request, &keyring, SPEECH_NOW_MS, &proven, NULL) == PROOF_OK);
    assert(proven.scheme == framing->speech.scheme);
    assert(&keyring.secrets[proven.secret] == framing->speech.secret);
    assert(framing->dialect->decode(&request, &got, NULL));
    check_same_wake(framing, wake, &got);
    wake_release(&got);
    check_same_bytes(framing, wake);
    check_flipped(framing, &request, &keyring, where);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice input = fuzz_slice(data, size);
    const struct dialect *from = speech_dialect(digit(&input));
    const unsigned to = digit(&input), variant = digit(&input), scheme = digit(&input);
    const unsigned where = digit(&input);
    struct framing framing = {0};
    struct err err = {.text = ""};
    struct wake wake = {0};

    fuzz_line(&input);
    const struct request request = {.body = input};
    choose(&framing, to, variant, scheme);
    if (from->decode(&request, &wake, &err)) {
        if (frame(&framing, &wake, &err))
            check_framed(&framing, &wake, where);
        else
            assert(err.text[0]);
        release(&framing);
    }
    wake_release(&wake);
    return 0;
}
