/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls_settings: the part "tls" of the config: with which certificate the addresses of `listen`
 * speak TLS. The admin listener and unix sockets are plain.
 */
#ifndef WAKEGATE_GATEWAY_TLS_SETTINGS_H
#define WAKEGATE_GATEWAY_TLS_SETTINGS_H

#include "gateway/core/settings.h"
#include "gateway/net/certificate.h"

enum { TLS_SETTINGS_FILE_BYTES = 1024 * 1024 }; /* of a chain or a key */

/* Reads "tls" of the config's `top` and the files that it names, and tells what is wrong with them.
 * NULL: there is none, or a mistake; else the caller drops it. `now_s`: since 1970; a certificate
 * that is not valid then is warned about. */
struct certificate *tls_settings_read(struct settings *top, int64_t now_s);

#endif
