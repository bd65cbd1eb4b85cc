#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Functions and shapes that the code does without: unbounded copies, lenient parsers, shells,
# assignments in conditions, typedefs of structs, drawers for everything, left-overs.
cd "${1:-$(dirname "$0")/../..}" || exit 2
bad=0

files() { find gateway dialects relay tests -name node_modules -prune -o -name '*.[ch]' -print0 | sort -z; }

# Comments, strings and characters are blanked first, line by line, so that prose may name what code may not.
files | xargs -0 awk '
    function complain(text) {
        print FILENAME ":" FNR ": " text
        bad = 1
    }
    FNR == 1 { comment = 0 }
    {
        code = $0
        gsub(/\\./, "", code)
        gsub(/"[^"]*"/, "\"\"", code)
        gsub(/\047[^\047]*\047/, "0", code)
        gsub(/[{ ]\.[a-z0-9_]+ = /, "{", code) # a designated initialiser
        gsub(/\/\*([^*]|\*[^\/])*\*\//, "", code)
        if (comment && !sub(/^.*\*\//, "", code)) code = ""
        else comment = 0
        if (sub(/\/\*.*$/, "", code)) comment = 1
        sub(/\/\/.*$/, "", code)
    }
    match(code, /(^|[^A-Za-z0-9_])(strcpy|strcat|sprintf|vsprintf|strtok|strtok_r|atoi|atol|atoll|sscanf|strncpy|strncat|gets|alloca)[ ]*\(/) {
        complain("a banned function: " substr(code, RSTART))
    }
    FILENAME !~ /^tests/ && match(code, /(^|[^A-Za-z0-9_])(system|popen)[ ]*\(/) {
        complain("a shell: " substr(code, RSTART))
    }
    code ~ /(if|while) \(.*[^=!<>]=[^=].*\)/ && code !~ /for \(/ { complain("an assignment in a condition") }
    code ~ /typedef (struct|enum|union)/ { complain("a typedef of a struct or an enum") }
    $0 ~ /TO[D]O|FIX[M]E|(^|[^X])X[X]X([^X]|$)|HA[C]K/ { complain("a left-over note") }
    code ~ /^[ \t]*#[ \t]*if[ \t]+0/ { complain("code that is switched off") }
    END { exit bad }' || bad=1

drawers=$(find gateway dialects relay tests -name node_modules -prune -o \
    \( -name 'util*' -o -name 'common*' -o -name 'helper*' -o -name 'misc*' \) -print)
[ -z "$drawers" ] || { printf '%s: a file for everything; name what it is about\n' "$drawers"; bad=1; }
exit $bad
