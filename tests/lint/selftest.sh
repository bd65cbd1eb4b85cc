#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Does each check find its fault? Plants one violation after another in a copy of the tree and wants
# the check to fail and to name the file. The words are put together here from pieces, so that this
# file breaks no rule itself.
cd "${1:-$(dirname "$0")/../..}" || exit 2
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
tar -c --exclude=.git --exclude='./build*' --exclude=node_modules . | tar -x -C "$copy"
bad=0

head=$'/* SPDX-License-Identifier: Apache-2.0 */\n/* planted: a file that breaks one rule, for the test of the rules. */\n'

finds() { # check file text-to-append
    local check=$1 file=$copy/$2 kept output
    kept=$(mktemp -p "$copy")
    local existed=false
    [ -e "$file" ] && existed=true && cp -p "$file" "$kept"
    mkdir -p "$(dirname "$file")"
    [ $existed = true ] || [[ $file != *.[ch] ]] || [ "$check" = prose ] || printf '%s' "$head" >"$file"
    printf '%s\n' "$3" >>"$file"
    if output=$("tests/lint/$check.sh" "$copy" 2>&1); then
        echo "$check does not find: $3"
        bad=1
    elif ! grep -qF "$(basename "$2")" <<<"$output"; then
        echo "$check fails, but not for $2: $3"
        bad=1
    fi
    if [ $existed = true ]; then cp -p "$kept" "$file"; else rm -f "$file"; fi
    rm -f "$kept"
}

function_of() { # lines
    echo "void planted(void);"
    echo "void planted(void)"
    echo "{"
    for ((i = 0; i < $1; i++)); do echo "    (void)$i;"; done
    echo "}"
}

finds layering gateway/core/planted.c '#include "gateway/net/front.h"'
finds layering gateway/net/planted.c '#include "gateway/store/store.h"'
finds layering gateway/store/planted.c '#include "relay/target.h"'
finds layering dialects/planted.c '#include "relay/target.h"'
finds layering dialects/planted.c '#include "gateway/net/front.h"'
finds layering relay/planted.c '#include "gateway/config.h"'
finds layering relay/room/planted.c '#include "gateway/answer.h"'
finds layering gateway/planted.c '#include "gateway/cli/cli.h"'
finds layering relay/planted.c '#include "target.h"'

finds fence gateway/planted.c '#include <openssl/evp.h>'
finds fence gateway/store/planted.c '#include <hiredis/hiredis.h>'
finds fence gateway/net/front.h '#include <microhttpd.h>'
finds fence relay/planted.c '#include <curl/curl.h>'
finds fence gateway/store/planted.h '#include <sqlite3.h>'

for name in strcpy strcat sprintf vsprintf strtok strtok_r atoi atol sscanf strncpy gets alloca system popen; do
    finds shapes relay/planted.c "int x = $name(a);"
done
finds shapes relay/planted.c '    if ((x = next()) != 0)'
finds shapes relay/planted.c '    while (x = next())'
finds shapes relay/planted.c 'typedef struct planted planted;'
finds shapes relay/planted.c "/* TO""DO: later */"
finds shapes relay/planted.c "/* FIX""ME */"
finds shapes relay/planted.c "#if"" 0"
finds shapes tests/unit/planted_test.c "/* X""XX */"
finds shapes relay/utils.c 'int x;'

finds budgets relay/planted.c "$(yes 'int x;' | head -n 400)"
finds budgets relay/planted.h "$(yes 'int x;' | head -n 160)"
finds budgets relay/planted.c "$(function_of 61)"
finds budgets relay/planted.c $'void f(void)\n{\nfail:\n    return;\n}'
finds budgets relay/planted.c $'void f(void)\n{\nout:\n    g();\nout:\n    return;\n}'
finds budgets relay/planted.h "$(echo 'struct planted {'; yes '    void (*slot)(void);' | head -n 8; echo '};')"

finds format relay/planted.c 'int   x ;'
finds prose relay/planted.c 'int x;'
finds prose relay/planted.h '/* SPDX-License-Identifier: Apache-2.0 */'
finds prose relay/planted.c $'/* SPDX-License-Identifier: Apache-2.0 */\nint x;'
finds prose tests/planted.sh '#!/bin/bash'
finds prose tests/e2e/planted.mjs 'export const x = 1'

finds places relay/planted.c "/* see $copy/notes */"
finds places README.md "cd ${HOME:-/root}/wakegate"
finds places tests/planted.sh "npm --registry=https://regis""try.npm""js.org"
finds places tests/planted.sh "deb http://d""eb.deb""ian.org/debian trixie main"
finds places tests/e2e/package-lock.json '"resolved": "http''://somewhere/x.tgz"'

finds honest tests/unit/planted_test.c '    assert_true(''1); cmocka_unit_test(x)'
finds honest tests/unit/planted_test.c '    sk''ip(); assert_null(x); cmocka_unit_test(x)'
finds honest tests/unit/planted_test.c 'int main(void) { return 0; }'
finds honest tests/e2e/planted.test.mjs "test.sk""ip('x', () => assert.equal(1, 1))"
finds honest tests/e2e/planted.test.mjs "test.on""ly('x', () => assert.equal(1, 1))"
finds honest tests/e2e/planted.test.mjs "console.log('nothing')"
finds honest tests/planted.sh "ctest --test-dir build || tr""ue"

finds syntax deploy/planted.json '{"a": 1,}'
finds syntax tests/planted.mjs 'function ('
printf '#!/bin/bash\n' >"$copy/tests/planted.sh" && chmod +x "$copy/tests/planted.sh"
finds syntax tests/planted.sh 'if true; then'

# clang-tidy would take long over a whole copy, so its fault stands in a tree of its own.
small=$copy/small
mkdir -p "$small/relay" "$small/build/test"
cp .clang-tidy "$small/"
printf '%s#include <stdlib.h>\n\nvoid planted(void);\nvoid planted(void)\n{\n    char *lost = malloc(2);\n    lost[0] = 0;\n}\n' \
    "$head" >"$small/relay/planted.c"
printf '[{"directory": "%s", "file": "%s/relay/planted.c", "command": "cc -c %s/relay/planted.c"}]' \
    "$small" "$small" "$small" >"$small/build/test/compile_commands.json"
if output=$(tests/lint/tidy.sh "$small" 2>&1) || ! grep -q 'planted.c:.*unix.Malloc' <<<"$output"; then
    echo "tidy does not find memory that is lost"
    bad=1
fi

exit $bad
