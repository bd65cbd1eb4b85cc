/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>

#include "gateway/cli/cli.h"
#include "gateway/cli/config_path.h"
#include "gateway/gateway.h"

int cli_serve(int argc, char **argv)
{
    const char *path = config_path(argc, argv);

    if (!path)
        return CLI_USAGE;
    return gateway_run(path);
}
