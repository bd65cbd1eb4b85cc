#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# No file names a machine's own directories or a package server: the tree works anywhere.
cd "${1:-$(dirname "$0")/../..}" || exit 2
tree=$PWD
bad=0

# The directories to look for are this machine's: where this tree, its repository and the user live.
places=("$tree/" /home/ /root/ /Users/)
[ -n "${HOME:-}" ] && [ "$HOME" != / ] && places+=("$HOME/")
if repository=$(git rev-parse --path-format=absolute --git-common-dir 2>/dev/null); then
    places+=("$(dirname "$repository")/")
    top=$(cut -d/ -f1-2 <<<"$repository")/
    case $top in /tmp/ | /usr/ | /var/ | /opt/ | /srv/ | /mnt/ | /run/) ;; *) places+=("$top") ;; esac
fi

look() { # grep-arguments...: over every file that belongs to the tree
    grep -rnI "$@" --exclude-dir=.git --exclude=.git --exclude-dir='build*' --exclude-dir=node_modules .
}

for place in "${places[@]}"; do
    pattern="(^|[^A-Za-z0-9_.}*/-])$(sed 's/[.[\*^$()+?{|]/\\&/g' <<<"$place")"
    look -E --exclude=places.sh "$pattern" && { echo "^ this machine's own place: $place"; bad=1; }
done
look -E 'registry[.]npm|npmjs[.]org|[(]?(deb|ftp|snapshot|security)[.]debian[.]org|nodesourc[e]' \
    --exclude=places.sh && { echo "^ the name of a package server"; bad=1; }
grep -n '"resolved": "http' /dev/null $(find tests -name node_modules -prune -o -name package-lock.json -print) &&
    { echo "^ a lock file names a server; see tests/e2e/.npmrc"; bad=1; }
exit $bad
