/* SPDX-License-Identifier: Apache-2.0 */
/* wakegate secret: prints a fresh secret, for the file that the config names. */
#include <stdio.h>

#include "gateway/cli/cli.h"
#include "gateway/cli/fresh_secret.h"
#include "gateway/cli/options.h"
#include "gateway/cli/proof_options.h"
#include "gateway/core/codec.h"

enum { SECRET_BYTES = 32 };

void fresh_secret(const struct dialect *dialect, char text[static FRESH_SECRET_SIZE])
{
    unsigned char bytes[SECRET_BYTES];
    char encoded[2 * SECRET_BYTES + 1];
    bool base64 = dialect && dialect->reads_base64;

    random_bytes(bytes, sizeof(bytes));
    if (base64)
        base64_encode(bytes, sizeof(bytes), encoded);
    else
        hex_encode(bytes, sizeof(bytes), encoded);
    snprintf(text, FRESH_SECRET_SIZE, "%s%s", base64 ? "whsec_" : "", encoded);
    digest_wipe(bytes, sizeof(bytes));
    digest_wipe(encoded, sizeof(encoded));
}

int cli_secret(int argc, char **argv)
{
    const char *name = NULL;
    const struct option_row rows[] = {{.name = "--dialect", .values = &name}};
    const struct dialect *dialect = NULL;
    char text[FRESH_SECRET_SIZE];

    if (!options_read(argc, argv, rows, 1))
        return CLI_USAGE;
    if (name) {
        dialect = proof_option_dialect(argv[0], name);
        if (!dialect)
            return CLI_USAGE;
    }
    fresh_secret(dialect, text);
    bool printed = printf("%s\n", text) > 0 && fflush(stdout) == 0;
    digest_wipe(text, sizeof(text));
    return printed ? CLI_OK : CLI_FAILED;
}
