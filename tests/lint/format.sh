#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every C file is as clang-format writes it.
cd "${1:-$(dirname "$0")/../..}" || exit 2

find gateway dialects relay tests -name node_modules -prune -o -name '*.[ch]' -print0 |
    xargs -0 clang-format --dry-run -Werror
