#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests that can fail: none switched off, none that asserts nothing, none singled out, no exit code
# thrown away. A test that cannot run here says why: exit code 77 in C, t.skip(why) in JavaScript.
cd "${1:-$(dirname "$0")/../..}" || exit 2
bad=0

look() { # why pattern
    grep -rnE --include='*_test.c' --include='*.mjs' --include=run --include='*.sh' \
        --exclude=honest.sh --exclude=selftest.sh --exclude-dir=node_modules "$2" tests .ci &&
        { echo "^ $1"; bad=1; }
}

look "a test that is switched off" '\b(it|test|describe)\.(skip|todo)\(|[^.a-z_]skip\(\)|t\.skip\(\)|skip: true'
look "only this test would run" '\b(it|test|describe)\.only\(|only: true'
look "an assertion that cannot fail" 'assert(\.ok)?\(true|assert_true\((1|true)\)|assert_false\((0|false)\)'
look "an exit code thrown away" '(ctest|node --test|npm test).*\|\| *(true|:)( |$)'

for file in tests/*/*_test.c; do # x_test.c may have more parts, in the folder x
    parts=("$file")
    [ -d "${file%_test.c}" ] && parts+=("${file%_test.c}"/*.c)
    grep -qE 'cmocka_unit_test|cmocka_run_group_tests' "${parts[@]}" || { echo "$file: runs no test"; bad=1; }
    grep -qE 'assert_|fail_msg' "${parts[@]}" || { echo "$file: asserts nothing"; bad=1; }
done
for file in tests/*/*.test.mjs; do
    [ -e "$file" ] || continue
    grep -qE '^ *(await )?(test|t\.test|it)\(' "$file" || { echo "$file: runs no test"; bad=1; }
    grep -qE 'assert' "$file" || { echo "$file: asserts nothing"; bad=1; }
done
exit $bad
