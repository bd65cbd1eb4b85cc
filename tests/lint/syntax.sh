#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every script and data file can at least be read: bash, JavaScript, JSON.
cd "${1:-$(dirname "$0")/../..}" || exit 2
bad=0

while IFS= read -r -d '' file; do
    case $file in
    *.json) python3 -c 'import json, sys; json.load(open(sys.argv[1], encoding="utf-8"))' "$file" 2>&1 |
        tail -n 1 | grep . && { echo "^ $file is no JSON"; bad=1; } ;;
    *.mjs) ! command -v node >/dev/null || node --check "$file" || bad=1 ;;
    *) ! head -n 1 "$file" | grep -q '^#!/bin/bash' || bash -n "$file" || bad=1 ;;
    esac
done < <(find tests deploy .ci dialects gateway relay -name node_modules -prune -o -name corpus -prune -o -type f \
    \( -name '*.json' -o -name '*.mjs' -o -perm -u+x \) -print0)
exit $bad
