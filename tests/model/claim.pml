/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The claim protocol: two gateways, one store, a sender that tries again, a trigger and, with ROOM,
 * a room before it (`first`). README.md says what stands for what and what is left out.
 *
 * A step is atomic where the code's is: one script in the store, one turn of a gateway's loop.
 * Between two steps the other processes run, a gateway is killed or stopped, and time passes as far
 * as no running gateway has something due. Tries and faults are bounded, so every run ends: first
 * with faults, then calm, where each id must get its 2xx.
 */

/* --- what is checked: run.sh sets these --- */

#ifndef IDS
#define IDS 1 /* cycles for the same agent; the second is a fresh id */
#endif
#ifndef TRIES
#define TRIES 3 /* requests in the time with faults */
#endif
#ifndef FAULTS
#define FAULTS 2 /* how many of the next three kinds, together */
#endif
#ifndef KILL
#define KILL 1
#endif
#ifndef STOP
#define STOP 1
#endif
#ifndef OUTAGE
#define OUTAGE 1 /* the store is not asked, or asked and nobody knows */
#endif
#ifndef LOSE
#define LOSE 0 /* the store may lose a write, once */
#endif
#ifndef UNCLEAR
#define UNCLEAR 1 /* the trigger's answer may not come */
#endif
#ifndef IDEMPOTENT
#define IDEMPOTENT 0 /* the trigger drops a repeated key */
#endif
#ifndef ROOM
#define ROOM 0
#endif

/* Lengths in ticks; only their order counts. */
#define BUDGET 1
#define BACKGROUND IDEMPOTENT /* how long an idempotent target's request outlasts the budget */
#define MARGIN 1
#define HOLD_TIME 2
#define OFFER_TIME 2

/* --- the guards: -DNO_<name> takes one out --- */

#ifdef NO_ATOMIC_CLAIM
#define ATOMIC_CLAIM 0
#else
#define ATOMIC_CLAIM 1
#endif
#ifdef NO_RELAYED_IS_REMEMBERED
#define RELAYED_IS_REMEMBERED 0
#else
#define RELAYED_IS_REMEMBERED 1
#endif
#ifdef NO_SETTLE_BY_OWNER
#define SETTLE_BY_OWNER 0
#else
#define SETTLE_BY_OWNER 1
#endif
#ifdef NO_RELEASE_BY_OWNER
#define RELEASE_BY_OWNER 0
#else
#define RELEASE_BY_OWNER 1
#endif
#ifdef NO_HOLD_SPARES_RELAYED
#define HOLD_SPARES_RELAYED 0
#else
#define HOLD_SPARES_RELAYED 1
#endif
#ifdef NO_HOLD_WHEN_UNCLEAR
#define HOLD_WHEN_UNCLEAR 0
#else
#define HOLD_WHEN_UNCLEAR 1
#endif
#ifdef NO_REST_WHEN_UNCLEAR
#define REST_WHEN_UNCLEAR 0
#else
#define REST_WHEN_UNCLEAR 1
#endif
#ifdef NO_LEASE_OUTLASTS_HOLD
#define LEASE_OUTLASTS_HOLD 0
#else
#define LEASE_OUTLASTS_HOLD 1
#endif
#ifdef NO_SETTLE_AGAIN
#define SETTLE_AGAIN 0
#else
#define SETTLE_AGAIN 1
#endif
#ifdef NO_DOWN_IS_NO_DUPLICATE
#define DOWN_IS_NO_DUPLICATE 0
#else
#define DOWN_IS_NO_DUPLICATE 1
#endif
#ifdef NO_LATE_CLAIM_RELEASED
#define LATE_CLAIM_RELEASED 0
#else
#define LATE_CLAIM_RELEASED 1
#endif
#ifdef NO_UNSURE_CLAIM_RELEASED
#define UNSURE_CLAIM_RELEASED 0
#else
#define UNSURE_CLAIM_RELEASED 1
#endif
#ifdef NO_TIME_TO_SEND
#define TIME_TO_SEND 0
#else
#define TIME_TO_SEND 1
#endif
#ifdef NO_KEY_OF_THE_CYCLE
#define KEY_OF_THE_CYCLE 0
#else
#define KEY_OF_THE_CYCLE 1
#endif
#ifdef NO_WITHDRAW_IS_WON
#define WITHDRAW_IS_WON 0
#else
#define WITHDRAW_IS_WON 1
#endif
#ifdef NO_UNSURE_OFFER_WITHDRAWN
#define UNSURE_OFFER_WITHDRAWN 0
#else
#define UNSURE_OFFER_WITHDRAWN 1
#endif
#ifdef NO_WITHDRAWAL_IS_REMEMBERED
#define WITHDRAWAL_IS_REMEMBERED 0
#else
#define WITHDRAWAL_IS_REMEMBERED 1
#endif
#ifdef NO_TAKE_SETTLES
#define TAKE_SETTLES 0
#else
#define TAKE_SETTLES 1
#endif
#ifdef NO_TAKE_BY_OWNER
#define TAKE_BY_OWNER 0
#else
#define TAKE_BY_OWNER 1
#endif

/* --- paths that must be possible: with -DREACH_<name> coming there is an error --- */

#ifdef REACH_SETTLE_UNWRITTEN
#define AT_SETTLE_UNWRITTEN 1
#else
#define AT_SETTLE_UNWRITTEN 0
#endif
#ifdef REACH_LOST_CLAIM
#define AT_LOST_CLAIM 1
#else
#define AT_LOST_CLAIM 0
#endif
#ifdef REACH_DOUBLE_AFTER_KILL
#define AT_DOUBLE_AFTER_KILL 1
#else
#define AT_DOUBLE_AFTER_KILL 0
#endif
#ifdef REACH_DOUBLE_AFTER_HOLD
#define AT_DOUBLE_AFTER_HOLD 1
#else
#define AT_DOUBLE_AFTER_HOLD 0
#endif
#ifdef REACH_DUPLICATE
#define AT_DUPLICATE 1
#else
#define AT_DUPLICATE 0
#endif
#ifdef REACH_TAKEN_BY_CLIENT
#define AT_TAKEN_BY_CLIENT 1
#else
#define AT_TAKEN_BY_CLIENT 0
#endif
#ifdef REACH_FIRED_AFTER_WITHDRAWAL
#define AT_FIRED_AFTER_WITHDRAWAL 1
#else
#define AT_FIRED_AFTER_WITHDRAWAL 0
#endif

/* --- the store --- */

#define FREE 0
#define CLAIMED 1
#define HELD 2
#define RELAYED 3
byte state[IDS], by[IDS], lasts[IDS]; /* the claims; a claim or hold is over when it lasts 0 */
byte rest[2];                         /* the gates of the two targets */

#define WITHDRAWN 1
#define TAKEN 2
byte offer, offer_of, offer_lasts; /* the pending offer: by which relay, of which id */
byte decided[TRIES + IDS + 1];     /* what became of each relay's offer */

#define A_OK 1
#define A_LOST 2
#define A_CLAIMED 3
#define A_RELAYED 4
#define A_IN_FLIGHT 5
#define A_HELD 6
#define A_RESTING 7
#define A_DOWN 8
#define A_UNSURE 9
#define A_BUSY 10
#define A_NOBODY 11
#define A_SETTLED 12

/* A command whose connection ended, and which the server carries out after later ones, or never. */
#define SETTLE 1
#define RELEASE 2
#define HOLD 3
#define CLAIM 4
#define OFFER 5
#define WITHDRAW 6
byte late, late_by, late_id, late_at, late_for;

/* --- the gateways --- */

#define IDLE 0
#define CLAIMING 1
#define ANSWERED 2 /* the claim's answer is on its way */
#define DELIVERING 3
#define OFFERING 4
#define WAITING 5
#define WITHDRAWING 6
#define SENT 7
#define FINISHING 8
#define PAUSED 9
#define ROOM_TARGET 0
#define TRIGGER 1
byte step[2], id[2], owner[2], target[2], answer[2], finish[2], outcome[2];
byte left[2];      /* of the budget, and of a background request's own time */
byte may_write[2]; /* until the claim's lease ends */
bit told[2], claimed[2], slow[2], stopped[2], was_stopped[2], gave_up[2];

#define OPEN 0
#define YES 1
#define NO 2
byte verdict[2]; /* the trigger's, of the request of each gateway */

/* --- the sender --- */

#define NOBODY 2
#define GOOD 1 /* 2xx */
#define BAD 2
byte asked = NOBODY, heard, tries, faults = FAULTS;
bit calm;

/* --- what only the properties look at --- */

byte runs[IDS];    /* how often the cycle was accepted, by whichever target */
byte excuses[IDS]; /* how often one of the three exceptions happened to it */
byte settled[IDS]; /* settlements of different relays that the store confirmed */
bit untold[IDS];   /* the trigger accepted it, and its gateway calls that unclear */
byte quiet_id[IDS], quiet_target[2]; /* in this time there may be no second try */
bit fired[TRIES + IDS + 1];
bit seen[IDS];     /* the key, at an idempotent trigger */
bit lost;

#define ONLY_ONCE(t) (t == ROOM_TARGET || !IDEMPOTENT)
#define OWNS(g) (state[id[g]] == CLAIMED && by[id[g]] == owner[g])

inline excuse(i) {
#ifdef STRICT
    assert(false); /* none of the exceptions can happen in this search */
#endif
    assert(!(AT_DOUBLE_AFTER_KILL && state[i] == CLAIMED));
    assert(!(AT_DOUBLE_AFTER_HOLD && state[i] == HELD));
    excuses[i]++
}

inline accept(i) {
    runs[i]++;
    assert(runs[i] <= 1 + excuses[i]) /* P2 */
}

/* --- the store's scripts --- */

/* The claim of `o` lasts `long`; `said` is the answer. */
inline script_claim(i, o, t, long, said) {
    if
    :: state[i] == HELD && lasts[i] > 0 -> said = A_HELD
    :: state[i] == CLAIMED && lasts[i] > 0 && by[i] != o -> said = A_IN_FLIGHT
    :: RELAYED_IS_REMEMBERED && state[i] == RELAYED -> said = A_RELAYED
    :: else ->
        if
        :: rest[t] > 0 -> said = A_RESTING
        :: else ->
            said = A_CLAIMED;
            if
            :: ATOMIC_CLAIM -> write_claim(i, o, long)
            :: else
            fi
        fi
    fi
}

inline write_claim(i, o, long) {
    if
    :: untold[i] && by[i] != o -> /* the hold, or the lease in its place, is over */
        untold[i] = 0;
        excuse(i)
    :: else
    fi;
    state[i] = CLAIMED;
    by[i] = o;
    lasts[i] = long
}

inline script_settle(i, o, said) {
    if
    :: SETTLE_BY_OWNER && by[i] != o &&
           (state[i] == RELAYED || (state[i] == CLAIMED && lasts[i] > 0)) -> said = A_LOST
    :: else ->
        said = A_OK;
        write_relayed(i, o)
    fi
}

inline write_relayed(i, o) {
    assert(runs[i] > 0);
    untold[i] = 0;
    if
    :: state[i] != RELAYED ->
        state[i] = RELAYED;
        by[i] = o;
        lasts[i] = 0
    :: else
    fi
}

inline free_claim(i) {
    state[i] = FREE;
    by[i] = 0;
    lasts[i] = 0
}

inline script_release(i, o) {
    if
    :: state[i] == CLAIMED && (by[i] == o || !RELEASE_BY_OWNER) -> free_claim(i)
    :: else
    fi
}

inline script_hold(i, o, t) {
    if
    :: (state[i] != RELAYED || !HOLD_SPARES_RELAYED) && (by[i] == o || lasts[i] == 0) ->
        state[i] = HELD;
        by[i] = o;
        lasts[i] = HOLD_TIME
    :: else
    fi;
    if
    :: REST_WHEN_UNCLEAR -> rest[t] = HOLD_TIME
    :: else
    fi;
    quiet_target[t] = HOLD_TIME
}

inline script_offer(i, o, said) {
    if
    :: decided[o] != 0 -> said = A_SETTLED
    :: else ->
        if
        :: offer != 0 -> said = (offer == o -> A_OK : A_BUSY)
        :: else ->
            if
            :: said = A_NOBODY
            :: said = A_OK;
               offer = o;
               offer_of = i;
               offer_lasts = OFFER_TIME
            fi
        fi
    fi
}

inline drop_offer() {
    offer = 0;
    offer_of = 0;
    offer_lasts = 0
}

inline script_withdraw(o, said) {
    if
    :: decided[o] == TAKEN -> said = A_SETTLED
    :: decided[o] == WITHDRAWN -> said = A_OK
    :: else ->
        said = A_OK;
        if
        :: offer == o -> drop_offer(); decided[o] = WITHDRAWN
        :: else -> decided[o] = (WITHDRAWAL_IS_REMEMBERED -> WITHDRAWN : 0)
        fi
    fi
}

/* A client's run:resume; whoever sees itself named has accepted the wake. */
inline script_take() {
    if
    :: state[offer_of] == RELAYED ||
           (TAKE_BY_OWNER && state[offer_of] != FREE && by[offer_of] != offer) ||
           (by[offer_of] != offer && state[offer_of] == CLAIMED && lasts[offer_of] > 0) ->
        decided[offer] = WITHDRAWN
    :: else ->
        decided[offer] = TAKEN;
        assert(!AT_TAKEN_BY_CLIENT);
        assert(!fired[offer]); /* never both */
        accept(offer_of);
        if
        :: TAKE_SETTLES -> write_relayed(offer_of, offer)
        :: else
        fi
    fi;
    drop_offer()
}

/* --- the steps of a relay, in the order of relay.c --- */

inline tell(g) {
    told[g] = 1;
    if
    :: asked == g ->
        assert(outcome[g] != GOOD || runs[id[g]] > 0); /* P1 */
        heard = outcome[g]
    :: else
    fi
}

inline over(g) {
    /* P3: it leaves no claim behind, unless the store did not let it. */
    assert(gave_up[g] || state[id[g]] != CLAIMED || by[id[g]] != owner[g]);
    if
    :: !told[g] -> tell(g)
    :: else
    fi;
    forget(g)
}

inline forget(g) {
    step[g] = IDLE; id[g] = 0; owner[g] = 0; target[g] = 0; left[g] = 0; answer[g] = 0;
    finish[g] = 0; outcome[g] = 0; told[g] = 0; claimed[g] = 0; slow[g] = 0; stopped[g] = 0;
    was_stopped[g] = 0; gave_up[g] = 0; may_write[g] = 0; verdict[g] = OPEN
}

inline begin_finish(g, how) {
    finish[g] = how;
    step[g] = FINISHING
}

inline let_go(g) {
    if
    :: claimed[g] -> begin_finish(g, RELEASE)
    :: else -> over(g)
    fi
}

inline on_claim(g) {
    slow[g] = 0;
    assert(!(AT_DUPLICATE && answer[g] == A_RELAYED && !calm));
    if
    :: !ATOMIC_CLAIM && answer[g] == A_CLAIMED ->
        write_claim(id[g], owner[g], may_write[g])
    :: else
    fi;
    if
    :: answer[g] == A_CLAIMED || (answer[g] == A_UNSURE && UNSURE_CLAIM_RELEASED) ->
        claimed[g] = 1
    :: else
    fi;
    if
    :: told[g] ->
        if
        :: LATE_CLAIM_RELEASED -> let_go(g)
        :: else -> over(g)
        fi
    :: else ->
        if
        :: answer[g] == A_CLAIMED -> step[g] = DELIVERING
        :: answer[g] == A_RESTING && target[g] == ROOM_TARGET -> next_target(g)
        :: else ->
            outcome[g] = ((answer[g] == A_RELAYED || (!DOWN_IS_NO_DUPLICATE && answer[g] >= A_DOWN))
                          -> GOOD : BAD);
            let_go(g)
        fi
    fi;
    answer[g] = 0
}

inline next_target(g) {
    begin_claim(g, TRIGGER)
}

inline begin_claim(g, t) {
    target[g] = t;
    step[g] = CLAIMING;
    may_write[g] = left[g] + MARGIN + (ONLY_ONCE(t) && LEASE_OUTLASTS_HOLD -> HOLD_TIME : 0)
}

inline deliver(g) {
    if
    :: TIME_TO_SEND && left[g] <= BACKGROUND ->
        outcome[g] = BAD;
        begin_finish(g, RELEASE)
    :: else ->
        if
        :: target[g] == ROOM_TARGET -> step[g] = OFFERING
        :: else ->
            step[g] = SENT;
            assert(!(AT_FIRED_AFTER_WITHDRAWAL && decided[owner[g]] == WITHDRAWN));
            fired[owner[g]] = 1;
            assert(decided[owner[g]] != TAKEN); /* never both */
            be_quiet(g)
        fi
    fi
}

/* The outcome is unclear until it is known: no second try of this id for the length of a hold. */
inline be_quiet(g) {
    if
    :: ONLY_ONCE(target[g]) && !was_stopped[g] && !lost -> quiet_id[id[g]] = HOLD_TIME
    :: else
    fi
}

/* The trigger makes up its mind. */
inline judge(g) {
    if
    :: IDEMPOTENT && KEY_OF_THE_CYCLE && seen[id[g]] -> verdict[g] = YES
    :: !(IDEMPOTENT && KEY_OF_THE_CYCLE && seen[id[g]]) ->
        seen[id[g]] = IDEMPOTENT;
        verdict[g] = YES;
        accept(id[g])
    :: !calm -> verdict[g] = NO
    fi
}

inline on_accepted(g) {
    outcome[g] = GOOD;
    quiet_id[id[g]] = 0;
    begin_finish(g, SETTLE)
}

/* Refused, gone or unavailable: the trigger is the last of the chain. */
inline on_refused(g) {
    outcome[g] = BAD;
    quiet_id[id[g]] = 0;
    begin_finish(g, RELEASE)
}

inline on_ambiguous(g) {
    outcome[g] = BAD;
    if
    :: !ONLY_ONCE(target[g]) -> begin_finish(g, RELEASE)
    :: else ->
        if
        :: verdict[g] == YES && OWNS(g) -> untold[id[g]] = 1
        :: else
        fi;
        be_quiet(g);
        begin_finish(g, (HOLD_WHEN_UNCLEAR -> HOLD : RELEASE))
    fi
}

inline write_finish(g) {
    if
    :: finish[g] == SETTLE -> script_settle(id[g], owner[g], answer[g])
    :: finish[g] == RELEASE -> script_release(id[g], owner[g]); answer[g] = A_OK
    :: finish[g] == HOLD -> script_hold(id[g], owner[g], target[g]); answer[g] = A_OK
    fi
}

inline on_finished(g) {
    assert(!(AT_LOST_CLAIM && answer[g] == A_LOST));
    if
    :: finish[g] == SETTLE && answer[g] == A_OK ->
        settled[id[g]]++;
        assert(settled[id[g]] <= 1 + lost) /* a second acceptance is told apart: LOST */
    :: else
    fi;
    answer[g] = 0;
    over(g)
}

inline on_unwritten(g) {
    if
    :: !told[g] -> tell(g)
    :: else
    fi;
    assert(!(AT_SETTLE_UNWRITTEN && finish[g] == SETTLE));
    answer[g] = 0;
    step[g] = PAUSED
}

/* --- what the store may answer beside its own answer: once for each fault --- */

#define MAY_FAIL (OUTAGE && faults > 0 && !calm)

/* The command hangs: it comes after later ones, or never. */
inline hang(g, verb) {
    faults--;
    if
    :: late == 0 -> send_late(g, verb)
    :: skip
    fi
}

inline send_late(g, verb) {
    late = verb; late_by = owner[g]; late_id = id[g]; late_at = target[g]; late_for = may_write[g]
}

/* The process ends; what it had sent goes on. */
inline killed(g) {
    if
    :: step[g] == SENT && verdict[g] == OPEN -> judge(g)
    :: else
    fi;
    if
    :: verdict[g] == YES && OWNS(g) -> untold[id[g]] = 1 /* the first exception */
    :: else
    fi;
    if
    :: late == 0 && step[g] == CLAIMING -> send_late(g, CLAIM)
    :: late == 0 && step[g] == OFFERING -> send_late(g, OFFER)
    :: late == 0 && step[g] == WITHDRAWING -> send_late(g, WITHDRAW)
    :: late == 0 && step[g] == FINISHING -> send_late(g, finish[g])
    :: skip
    fi;
    forget(g)
}

proctype gateway(byte g) {
end:
    do
    :: atomic { !stopped[g] && step[g] == CLAIMING ->
        if
        :: /* what the second half of P2 forbids */
           script_claim(id[g], owner[g], target[g], may_write[g], answer[g]);
           assert(answer[g] != A_CLAIMED || quiet_id[id[g]] == 0);
           assert(answer[g] != A_CLAIMED || quiet_target[target[g]] == 0);
           if
           :: MAY_FAIL -> faults--; answer[g] = A_UNSURE
           :: skip
           fi;
           step[g] = ANSWERED
        :: MAY_FAIL -> faults--; answer[g] = A_DOWN; step[g] = ANSWERED
        :: MAY_FAIL -> hang(g, CLAIM); answer[g] = A_UNSURE; step[g] = ANSWERED
        fi
       }
    :: atomic { !stopped[g] && step[g] == CLAIMING && !slow[g] && MAY_FAIL ->
        faults--;
        slow[g] = 1
       }
    :: atomic { !stopped[g] && (step[g] == CLAIMING || step[g] == ANSWERED) &&
                left[g] <= BACKGROUND && !told[g] -> /* the deadline */
        outcome[g] = BAD;
        tell(g)
       }
    :: atomic { !stopped[g] && step[g] == ANSWERED -> on_claim(g) }
    :: atomic { !stopped[g] && step[g] == DELIVERING -> deliver(g) }

    /* the room */
    :: atomic { !stopped[g] && step[g] == OFFERING ->
        if
        :: script_offer(id[g], owner[g], answer[g]);
           if
           :: MAY_FAIL -> faults--; answer[g] = A_UNSURE
           :: skip
           fi
        :: MAY_FAIL -> faults--; answer[g] = A_DOWN
        :: MAY_FAIL -> hang(g, OFFER); answer[g] = A_UNSURE
        fi;
        if
        :: answer[g] == A_OK -> step[g] = WAITING
        :: answer[g] == A_BUSY || answer[g] == A_NOBODY || answer[g] == A_DOWN -> next_target(g)
        :: else ->
            if
            :: UNSURE_OFFER_WITHDRAWN -> step[g] = WITHDRAWING
            :: else -> next_target(g)
            fi
        fi;
        answer[g] = 0
       }
    :: atomic { !stopped[g] && step[g] == WAITING && decided[owner[g]] == TAKEN -> on_accepted(g) }
    :: atomic { !stopped[g] && step[g] == WAITING -> /* its wait, or the budget, is over */
        if
        :: WITHDRAW_IS_WON -> step[g] = WITHDRAWING
        :: else -> next_target(g)
        fi
       }
    :: atomic { !stopped[g] && step[g] == WITHDRAWING ->
        if
        :: script_withdraw(owner[g], answer[g]);
           if
           :: MAY_FAIL -> faults--; answer[g] = A_UNSURE
           :: skip
           fi
        :: MAY_FAIL -> faults--; answer[g] = A_DOWN
        :: MAY_FAIL -> hang(g, WITHDRAW); answer[g] = A_UNSURE
        fi;
        if
        :: answer[g] == A_SETTLED -> on_accepted(g)
        :: answer[g] == A_OK -> next_target(g)
        :: else -> on_ambiguous(g)
        fi;
        answer[g] = 0
       }

    /* the trigger */
    :: atomic { step[g] == SENT && verdict[g] == OPEN -> judge(g) }
    :: atomic { !stopped[g] && step[g] == SENT && verdict[g] == YES -> on_accepted(g) }
    :: atomic { !stopped[g] && step[g] == SENT && verdict[g] == NO -> on_refused(g) }
    :: atomic { !stopped[g] && step[g] == SENT && UNCLEAR && !calm -> /* cut, or too late */
        if
        :: verdict[g] == OPEN -> judge(g)
        :: else
        fi;
        on_ambiguous(g)
       }
    :: atomic { !stopped[g] && step[g] == SENT && IDEMPOTENT && left[g] <= BACKGROUND && !told[g] ->
        outcome[g] = BAD; /* the request goes on */
        tell(g)
       }

    :: atomic { !stopped[g] && step[g] == FINISHING ->
        if
        :: write_finish(g);
           if
           :: MAY_FAIL -> faults--; on_unwritten(g) /* written, and nobody knows */
           :: on_finished(g)
           fi
        :: MAY_FAIL -> faults--; on_unwritten(g)
        :: MAY_FAIL -> hang(g, finish[g]); on_unwritten(g)
        fi
       }
    :: atomic { !stopped[g] && step[g] == PAUSED ->
        if
        :: may_write[g] > 0 && (SETTLE_AGAIN || finish[g] != SETTLE) -> step[g] = FINISHING
        :: may_write[g] == 0 || (finish[g] == RELEASE && !calm) ||
           (finish[g] == SETTLE && !SETTLE_AGAIN) -> gave_up[g] = 1; over(g)
        fi
       }

    /* faults */
    :: atomic { KILL && faults > 0 && !calm && step[g] != IDLE ->
        faults--;
        killed(g)
       }
    :: atomic { STOP && faults > 0 && !calm && step[g] != IDLE && !stopped[g] ->
        faults--;
        stopped[g] = 1;
        was_stopped[g] = 1
       }
    :: atomic { stopped[g] -> stopped[g] = 0 }
    od
}

/* The server: what came late, or never. */
proctype server() {
    byte said;
end:
    do
    :: atomic { late != 0 ->
        if
        :: late == CLAIM ->
            script_claim(late_id, late_by, late_at, late_for, said);
            if
            :: !ATOMIC_CLAIM && said == A_CLAIMED -> write_claim(late_id, late_by, late_for)
            :: else
            fi
        :: late == SETTLE -> script_settle(late_id, late_by, said)
        :: late == RELEASE -> script_release(late_id, late_by)
        :: late == HOLD -> script_hold(late_id, late_by, late_at)
        :: late == OFFER -> script_offer(late_id, late_by, said)
        :: late == WITHDRAW -> script_withdraw(late_by, said)
        :: skip
        fi;
        said = 0; late = 0; late_by = 0; late_id = 0; late_at = 0; late_for = 0
       }
#if LOSE
    :: atomic { !lost && !calm && state[0] != FREE -> /* a failover; the second exception */
        lost = 1;
        excuse(0);
        untold[0] = 0;
        free_claim(0);
        rest[0] = 0; rest[1] = 0;
        quiet_id[0] = 0; quiet_target[0] = 0; quiet_target[1] = 0
       }
#endif
    od
}

/* Whoever may answer in the room. */
proctype client() {
end:
    do
    :: atomic { offer != 0 -> script_take() }
    od
}

/* --- time --- */

/* What a running gateway has to do before time goes on. */
#define MAY_WAIT(g) (stopped[g] || step[g] == IDLE || \
    ((slow[g] || step[g] == SENT || step[g] == WAITING) && left[g] > BACKGROUND) || \
    (step[g] == SENT && told[g] && left[g] > 0) || \
    (step[g] == PAUSED && finish[g] != RELEASE && may_write[g] > 0))

#define QUIET (step[0] == IDLE && step[1] == IDLE)
#if IDS > 1
#define SOME_ID_LASTS (lasts[0] > 0 || lasts[1] > 0)
#else
#define SOME_ID_LASTS (lasts[0] > 0)
#endif
#define SOMETHING_LASTS (SOME_ID_LASTS || rest[0] > 0 || rest[1] > 0 || offer_lasts > 0)

inline less(x) {
    x = (x > 0 -> x - 1 : 0)
}

inline age(g) {
    less(left[g]);
    if
    :: may_write[g] == 1 && OWNS(g) && (step[g] == SENT || finish[g] == SETTLE) ->
        /* the second exception: stopped for longer than the lease, or an outage that long */
        if
        :: step[g] == SENT && verdict[g] == OPEN -> judge(g)
        :: else
        fi;
        untold[id[g]] = (verdict[g] == YES)
    :: else
    fi;
    less(may_write[g])
}

proctype time() {
end:
    do
    :: atomic { MAY_WAIT(0) && MAY_WAIT(1) && (!calm || QUIET) &&
                (SOMETHING_LASTS || may_write[0] > 0 || may_write[1] > 0) ->
        age(0); age(1);
        less(lasts[0]); less(quiet_id[0]);
#if IDS > 1
        less(lasts[1]); less(quiet_id[1]);
#endif
        less(rest[0]); less(rest[1]); less(quiet_target[0]); less(quiet_target[1]);
        if
        :: offer_lasts == 1 -> drop_offer()
        :: else -> less(offer_lasts)
        fi
       }
    od
}

/* --- the sender --- */

inline ask(i, g, o) {
    asked = g;
    if
    :: step[g] == IDLE ->
        id[g] = i;
        owner[g] = o;
        left[g] = BUDGET + BACKGROUND;
        begin_claim(g, (ROOM -> ROOM_TARGET : TRIGGER))
    :: else -> /* it joins the relay that runs */
        if
        :: !told[g]
        :: else ->
            heard = ((step[g] == FINISHING || step[g] == PAUSED) && finish[g] == SETTLE -> GOOD : BAD);
            assert(heard != GOOD || runs[i] > 0) /* P1 */
        fi
    fi
}

#define TAKES(g, i) (step[g] == IDLE || (!stopped[g] && id[g] == i))

active proctype sender() {
    byte i;

    atomic {
        run gateway(0); run gateway(1); run server(); run time();
#if ROOM
        run client();
#endif
    }
    do
    :: atomic { tries < TRIES && asked == NOBODY ->
        tries++;
        if
        :: i = 0
        :: IDS > 1 && tries > 1 -> i = IDS - 1
        fi;
        if
        :: TAKES(0, i) -> ask(i, 0, tries)
        :: tries > 1 && TAKES(1, i) -> ask(i, 1, tries)
        :: else -> tries--
        fi;
        i = 0
       }
    :: atomic { asked != NOBODY -> asked = NOBODY; heard = 0 } /* heard, or waits no longer */
    :: atomic { tries == TRIES && asked == NOBODY -> break }
    od;
    calm = 1;
    faults = 0;
    atomic { QUIET && late == 0 && !SOMETHING_LASTS -> i = 0 }
    do
    :: i < IDS ->
        atomic { ask(i, 0, TRIES + 1 + i) };
        atomic { heard != 0 ->
            assert(heard == GOOD && runs[i] > 0); /* P3 */
            heard = 0;
            asked = NOBODY
        };
        atomic { QUIET -> i++ }
    :: else -> break
    od
}
