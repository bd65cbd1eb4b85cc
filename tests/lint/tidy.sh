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
output=$(run-clang-tidy -quiet -p $build -j "$(nproc)" "$only" 2>&1) && exit 0
sed 's/\x1b\[[0-9;]*m//g' <<<"$output" | grep -E '(error|warning): ' | sort -u
exit 1
