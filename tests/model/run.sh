#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/model/run.sh [small|full] [directory]: spin searches the model through. One line a check,
# with the number of states; the last line counts them as `passed failed`.
#
# First the model with all its guards: no error, and the whole space searched.
# Then it is run without each guard: spin has to find what that guard prevents.
set -u
model=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/claim.pml
size=${1:-small}
work=${2:-$(mktemp -d)}
[ $# -ge 2 ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
passed=0 failed=0

pass() { passed=$((passed + 1)) && printf 'ok      %s\n' "$*"; }
fail() { failed=$((failed + 1)) && printf 'FAILED  %s\n' "$*"; }

# A search that ends at the first error is over before a better compilation pays.
optimize=-O1
search() { # name definitions...: leaves $work/name/out
    local at=$work/$1
    shift
    rm -rf "$at" && mkdir -p "$at" &&
        (cd "$at" && spin "$@" -a "$model" && gcc $optimize -w -DSAFETY -DCOLLAPSE -DMEMLIM=3500 -o pan pan.c &&
            timeout 280 ./pan -m20000) >"$at/out" 2>&1
}

states() { awk '/states, stored/ { print $1 }' "$work/$1/out"; }

holds() { # name definitions...
    local name=$1 out=$work/$1/out
    search "$@"
    if grep -q 'errors: 0$' "$out" && grep -q '^Full statespace search' "$out" &&
        ! grep -qE 'search depth too small|Search not completed|Warning|Bit statespace' "$out"; then
        pass "$name holds: $(states "$name") states, all of them"
    else
        fail "$name: $(grep -m1 -E 'pan:|rror|not completed' "$out" || echo 'not searched through')"
    fi
}

needs() { # guard definitions...
    local guard=$1 out=$work/no_$1/out
    shift
    search "no_$guard" "$@" "-DNO_$guard"
    if grep -q 'errors: 1$' "$out" && grep -qE 'assertion violated|invalid end state' "$out" &&
        [ -s "$work/no_$guard/claim.pml.trail" ]; then
        pass "without $guard: $(sed -n 's/^pan:1: \(.*\) (at depth.*/\1/p' "$out"), after $(states "no_$guard") states"
    else
        fail "without $guard nothing was found: $(tail -n 1 "$out")"
    fi
}

reaches() { # path definitions...
    local path=$1 out=$work/to_$1/out
    shift
    search "to_$path" "$@" "-DREACH_$path"
    if grep -q 'errors: 1$' "$out"; then
        pass "comes to $path"
    else
        fail "never comes to $path: $(tail -n 1 "$out")"
    fi
}

case $size in
small) plain=-DTRIES=2 two="-DTRIES=2 -DFAULTS=1" room="-DTRIES=2 -DFAULTS=1" ;;
full) plain=-DTRIES=3 two="-DTRIES=3 -DFAULTS=1" room="-DTRIES=2 -DFAULTS=2" ;;
*) echo "run.sh: small or full" >&2; exit 2 ;;
esac

# shellcheck disable=SC2086
{
    holds once $plain
    holds idempotent $plain -DIDEMPOTENT=1
    holds two_ids $two -DIDS=2
    holds room $room -DROOM=1
    holds store_loses $plain -DFAULTS=1 -DLOSE=1
    # Without the exceptions (an outage until the lease ends is one) no excuse can come to exist.
    holds no_exception $plain -DUNCLEAR=0 -DFAULTS=0 -DSTRICT
}

optimize=-O0
# Each of these paths must be possible, or the model says less than it seems to.
for path in SETTLE_UNWRITTEN LOST_CLAIM DOUBLE_AFTER_KILL DOUBLE_AFTER_HOLD DUPLICATE; do
    reaches "$path" -DTRIES=3
done
reaches TAKEN_BY_CLIENT -DTRIES=2 -DROOM=1
reaches FIRED_AFTER_WITHDRAWAL -DTRIES=2 -DROOM=1

for guard in ATOMIC_CLAIM RELAYED_IS_REMEMBERED HOLD_WHEN_UNCLEAR LEASE_OUTLASTS_HOLD SETTLE_AGAIN \
    DOWN_IS_NO_DUPLICATE LATE_CLAIM_RELEASED UNSURE_CLAIM_RELEASED; do
    needs "$guard" -DTRIES=2
done
for guard in SETTLE_BY_OWNER RELEASE_BY_OWNER HOLD_SPARES_RELAYED REST_WHEN_UNCLEAR TIME_TO_SEND; do
    needs "$guard" -DTRIES=3
done
needs KEY_OF_THE_CYCLE -DTRIES=2 -DIDEMPOTENT=1
for guard in WITHDRAW_IS_WON UNSURE_OFFER_WITHDRAWN WITHDRAWAL_IS_REMEMBERED TAKE_SETTLES; do
    needs "$guard" -DTRIES=2 -DROOM=1
done
echo "$passed $failed"
[ "$failed" = 0 ]
