#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy, with the checks chosen in .clang-tidy, over every file of the program (or, with `all`,
# over the tests too). Reads build/test/compile_commands.json, which it has cmake bring up to date.
cd "${1:-$(dirname "$0")/../..}" || exit 2
build=build/test
if [ -e CMakeLists.txt ]; then
    cmake -G Ninja -S . -B $build -DTESTS=ON -DWERROR=ON -DSANITIZE=address,undefined >/dev/null || exit 1
fi

only='/(gateway|dialects|relay)/[^.]*\.c$'
[ "${2:-}" = all ] && only='\.c$'
output=$(run-clang-tidy -quiet -p $build -j "$(nproc)" "$only" 2>&1) && exit 0
sed 's/\x1b\[[0-9;]*m//g' <<<"$output" | grep -E '(error|warning): ' | sort -u
exit 1
