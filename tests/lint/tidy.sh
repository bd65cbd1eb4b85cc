#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy, with the checks chosen in .clang-tidy, over every file of the program (or, with `all`,
# over the tests too). Needs build/test/compile_commands.json, which it has cmake write.
cd "${1:-$(dirname "$0")/../..}" || exit 2
build=build/test
[ -e $build/compile_commands.json ] ||
    cmake -G Ninja -S . -B $build -DTESTS=ON -DSANITIZE=address,undefined >/dev/null || exit 1

only='/(gateway|dialects|relay)/[^.]*\.c$'
[ "${2:-}" = all ] && only='\.c$'
# It says nothing of use when all is well, and much of none about headers that it left out.
output=$(run-clang-tidy -quiet -p $build -j "$(nproc)" "$only" 2>/dev/null) && exit 0
grep -vE '^$|clang-tidy-?[0-9]* |^[0-9]+ warnings' <<<"$output"
exit 1
