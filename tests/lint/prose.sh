#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every file begins with the licence in one line and then says what it is for: a script itself, a C
# module in its header, a C file without a header itself.
cd "${1:-$(dirname "$0")/../..}" || exit 2
bad=0

find gateway dialects relay tests -name node_modules -prune -o -name '*.[ch]' -print0 | sort -z |
    xargs -0 awk '
    function finish() {
        if (name != "" && !elsewhere && prose < 20) { print name ": no word on what it is for"; bad = 1 }
    }
    FNR == 1 {
        finish()
        name = header = FILENAME
        sub(/c$/, "h", header)
        elsewhere = name ~ /_test\.c$/ || (header != name && (getline line < header) > 0)
        close(header)
        prose = 0
        if ($0 != "/* SPDX-License-Identifier: Apache-2.0 */") { print name ": no licence in line 1"; bad = 1 }
    }
    FNR == 2 { open = /^\/\*/ }
    FNR > 1 && open {
        text = $0
        gsub(/[^A-Za-z]/, "", text)
        prose += length(text)
        if (/\*\//) open = 0
    }
    END { finish(); exit bad }' || bad=1

while IFS= read -r -d '' script; do
    head -n 8 "$script" | awk -v name="$script" '
        /SPDX-License-Identifier: Apache-2.0/ { licence = 1; next }
        /^#!/ { next }
        /^(#|\/\/| \*|\/\*)/ { text = $0; gsub(/[^A-Za-z]/, "", text); prose += length(text) }
        END {
            if (!licence) print name ": no licence near its top"
            if (prose < 20) print name ": no word on what it is for"
            exit !licence || prose < 20
        }' || bad=1
done < <(find tests deploy .ci -name node_modules -prune -o -type f \
    \( -name '*.sh' -o -name '*.mjs' -o -perm -u+x \) -print0)
exit $bad
