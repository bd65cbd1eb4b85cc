#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Includes point one way, from the root of the tree, and never upwards.
cd "${1:-$(dirname "$0")/../..}" || exit 2

find gateway dialects relay -name '*.[ch]' -print0 | sort -z | xargs -0 awk '
    # What each room may include.
    BEGIN {
        may["core"] = "core"
        may["net"] = "core net"
        may["store"] = "core net store"
        may["dialects"] = "core dialects"
        may["relay"] = "core net store dialects relay"
        may["gateway"] = "core net store dialects relay gateway"
        may["top"] = "core net store dialects relay gateway top"
    }
    function room(path) {
        if (path ~ /^gateway\/core\//) return "core"
        if (path ~ /^gateway\/net\//) return "net"
        if (path ~ /^gateway\/store\//) return "store"
        if (path ~ /^gateway\/(cli\/|doctor\/|main\.c$)/) return "top"
        if (path ~ /^gateway\/[^\/]*$/) return "gateway"
        if (path ~ /^dialects\//) return "dialects"
        if (path ~ /^relay\//) return "relay"
        return "nowhere"
    }
    function complain(text) {
        print FILENAME ":" FNR ": " text
        bad = 1
    }
    match($0, /^[ \t]*#[ \t]*include[ \t]*"[^"]*"/) {
        split($0, part, "\"")
        from = room(FILENAME)
        to = room(part[2])
        if (to == "nowhere") complain("\"" part[2] "\" is not named from the root of the tree")
        else if (from == "nowhere") complain("this file stands in no known room")
        else if (index(" " may[from] " ", " " to " ") == 0)
            complain(from " must not include " to ": \"" part[2] "\"")
    }
    END { exit bad }'
