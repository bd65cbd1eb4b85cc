/* SPDX-License-Identifier: Apache-2.0 */
/* api_words: what an answer of AgentChat's API says besides its result, put for people. */
#ifndef WAKEGATE_CLI_API_WORDS_H
#define WAKEGATE_CLI_API_WORDS_H

#include "gateway/cli/api.h"

/* The names of the headers that are told, for struct http_call. */
extern const char *const api_told_headers[];

/* Tells on standard error what `kept` says of a path that is to be switched off, if anything. */
void api_tell_deprecation(const struct api_request *request, struct slice kept);

/* Tells why the call has no 2xx: the error's own code and words, and what to do. */
void api_tell_failure(const struct api *api, const struct api_request *request,
                      const struct http_call *call);

#endif
