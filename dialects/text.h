/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text: the body of the dialects that carry a text for a model (contract, section 3.5): summary,
 * instruction and, as the last line, the trailer
 *
 *     (AgentChat wake cycle <delivery_id>, attempt <n>. This text carries no message content.)
 *
 * The text is for the model and is not parsed, but for that last line: where no structured
 * delivery_id came along, nothing else names the cycle.
 *
 * Going out, the trailer's attempt is always 1: a runtime that compares bodies must see the same
 * one for every try of a cycle.
 */
#ifndef WAKEGATE_DIALECTS_TEXT_H
#define WAKEGATE_DIALECTS_TEXT_H

#include "dialects/dialect.h"

enum { TEXT_NAMES = 3 };

struct text_shape {                    /* where a dialect has what; each list ends in NULL */
    const char *member[TEXT_NAMES];    /* of the text; the first that is there counts */
    const char *id_header[TEXT_NAMES]; /* headers that may name the cycle */
    const char *id_member;             /* a member that may; NULL: none */
};

struct trailer {
    struct slice id;
    int64_t attempt;
    struct slice number; /* the digits of the attempt, where they stand in the text */
};

/* Reads the last line of `text`. false: it is no trailer. */
bool text_trailer(struct slice text, struct trailer *trailer);

struct slice text_first_paragraph(struct slice text);

/* Without that line and the blank ones before it. */
struct slice text_without_trailer(struct slice text);

/* The decode slot of a text dialect. Payload fields may stand beside the text, and may stand
 * without it when their `type` is there. The delivery_id comes from the payload, else from a
 * header, else from the member, else from the trailer. */
bool text_decode(const struct request *request, const struct text_shape *shape, struct wake *wake,
                 struct err *err);

/* The text to send, as a JSON string: the wake's own, or composed. NULL: longer than
 * `max_characters`, or not UTF-8. */
json_t *text_compose(const struct wake *wake, const struct trigger_speech *speech,
                     size_t max_characters, struct err *err);

#endif
