#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each third-party header is included by its one file; libuv and jansson are vocabulary.
cd "${1:-$(dirname "$0")/../..}" || exit 2

find gateway dialects relay -name '*.[ch]' -print0 | sort -z | xargs -0 awk '
    BEGIN {
        allowed["openssl/"] = "gateway/core/digest.c gateway/net/tls.c gateway/net/certificate.c gateway/net/tls_context.h gateway/net/tls_context.c"
        allowed["microhttpd"] = "gateway/net/http_server.c"
        allowed["curl/"] = "relay/http_client.c"
        allowed["hiredis"] = "gateway/store/redis.c"
        allowed["sqlite3"] = "gateway/store/sqlite.c"
    }
    match($0, /^[ \t]*#[ \t]*include[ \t]*[<"][^>"]*/) {
        for (library in allowed)
            if ($0 ~ "[<\"]" library && index(" " allowed[library] " ", " " FILENAME " ") == 0) {
                print FILENAME ":" FNR ": " library " belongs to " allowed[library]
                bad = 1
            }
    }
    END { exit bad }'
