/* SPDX-License-Identifier: Apache-2.0 */
/* wakegate version: what is running, libraries included, for a bug report. */
#include <jansson.h>
#include <stdio.h>
#include <uv.h>

#include "gateway/cli/cli.h"
#include "gateway/core/digest.h"
#include "gateway/net/http_server.h"
#include "gateway/store/store.h"
#include "relay/http_client.h"

int cli_version(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return CLI_USAGE;
    printf("wakegate %s\n", WAKEGATE_VERSION);
    printf("libmicrohttpd %s\n", http_server_library());
    printf("%s\n", digest_library());
    printf("jansson %s\n", jansson_version_str());
    printf("hiredis %s\n", store_redis_library());
    printf("libuv %s\n", uv_version_string());
    printf("%s\n", http_client_library());
    printf("SQLite %s\n", store_sqlite_library());
    return CLI_OK;
}
