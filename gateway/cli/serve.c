/* SPDX-License-Identifier: Apache-2.0 */
/* wakegate serve: finds the config file and runs the gateway with it until a signal ends it. */
#include "gateway/cli/cli.h"
#include "gateway/cli/options.h"
#include "gateway/config.h"
#include "gateway/gateway.h"

int cli_serve(int argc, char **argv)
{
    const char *path = config_path();
    const struct option_row rows[] = {{.name = "--config", .values = &path}};

    if (!options_read(argc, argv, rows, 1))
        return CLI_USAGE;
    return gateway_run(path);
}
