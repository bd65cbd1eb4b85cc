#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Length budgets: a file 400 lines (of tests 600), a header 160, a function 60, a table of functions
# 7 slots; at most one label in a function, and that one is called out. Formatting makes the shapes reliable: a
# function's braces stand alone in the first column.
cd "${1:-$(dirname "$0")/../..}" || exit 2

find gateway dialects relay tests -name node_modules -prune -o -name '*.[ch]' -print0 | sort -z |
    xargs -0 awk '
    function complain(line, text) {
        print FILENAME ":" line ": " text
        bad = 1
    }
    FNR == 1 { begin = 0; struct = 0; tests = FILENAME ~ /^tests/ }
    FNR == 161 && FILENAME ~ /\.h$/ && !tests { complain(FNR, "a header of more than 160 lines") }
    FNR == (tests ? 601 : 401) { complain(FNR, "a file of more than " FNR - 1 " lines: split it by the question it answers") }
    /^\{$/ { begin = FNR; labels = 0 }
    /^\}$/ && begin {
        if (FNR - begin - 1 > 60) complain(begin, "a function of " FNR - begin - 1 " lines")
        begin = 0
    }
    begin && /^[ \t]*[A-Za-z_][A-Za-z0-9_]*:[ \t]*$/ && !/default:/ {
        if (++labels > 1) complain(FNR, "a second label in one function")
        if ($0 !~ /^[ \t]*out:/) complain(FNR, "a label that is not called out")
    }
    /^struct [a-z0-9_]+ \{/ { struct = FNR; slots = 0 }
    struct && /\(\*[a-z0-9_]+\)\(/ { slots++ }
    struct && /^\}/ {
        if (slots > 7) complain(struct, "a table of " slots " functions")
        struct = 0
    }
    END { exit bad }'
