/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scripts follow the rules of store.h; every store keeps them, and the contract suite holds
 * them all to it. A time that lies in the future, because the server's clock went back, counts as
 * now, so that nothing outlasts its own length.
 *
 * Lua shows numbers with 14 digits, which is enough for milliseconds; other numbers are formatted.
 */
#include "gateway/store/redis_script.h"

#include "gateway/store/redis_lua.h"
#include "gateway/store/redis_threads_script.h"

/* clang-format off */

/* Every script begins with this. KEYS: the claim, and where there is one the gate. ARGV: the owner,
 * the window, the length of the lease or hold; a claim's go on with the age at which what is relayed
 * may be relayed again, whether to take it by force, the tokens an hour and the burst. */
#define PRELUDE \
    "local key, owner, window, length = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])\n" \
    LUA_NOW \
    LUA_RECORD

/* The scripts that look at the gate go on with this. `missing` is what the bucket lacked at
 * `counted`, in parts of a token, as many as an hour has milliseconds: then a rate of so many an
 * hour fills in so many parts each millisecond, and nothing is rounded. */
#define GATE \
    "local token = 3600000\n" \
    "local rest_since, rest, missing, counted = now, 0, 0, now\n" \
    "local gate = KEYS[2] and redis.call('GET', KEYS[2])\n" \
    "if gate then\n" \
    "  local a, b, c, d = string.match(gate, '^(%d+) (%d+) (%d+) (%d+)$')\n" \
    "  rest_since, rest, missing, counted = tonumber(a), tonumber(b), tonumber(c), tonumber(d)\n" \
    "end\n" \
    "local function write_gate()\n" \
    "  local keep = math.max(rest_since + rest - now, missing) + window\n" \
    "  redis.call('SET', KEYS[2],\n" \
    "    string.format('%.0f %.0f %.0f %.0f', rest_since, rest, missing, counted),\n" \
    "    'PX', string.format('%.0f', keep))\n" \
    "end\n" \
    "if rest_since > now or counted > now then\n" \
    "  rest_since, counted = math.min(rest_since, now), math.min(counted, now)\n" \
    "  write_gate()\n" \
    "end\n" \
    "local resting = rest_since + rest - now\n"

static const char claim_text[] =
    PRELUDE
    "local again, forced = tonumber(ARGV[4]), false\n"
    "if left > 0 and (state == 'H' or (state == 'C' and by ~= owner)) then\n"
    "  if ARGV[5] ~= '1' then return (state == 'H' and 'H' or 'F') .. left end\n"
    "  forced = true\n"
    "end\n"
    "if state == 'R' and (again == 0 or now - since < again) then\n"
    "  redis.call('PEXPIRE', KEYS[1], window)\n"
    "  return 'R' .. now - since\n"
    "end\n"
    GATE
    "if resting > 0 then return 'G' .. resting end\n"
    "if ARGV[6] then\n"
    "  local rate, size = tonumber(ARGV[6]), ARGV[7] * token\n"
    "  missing = math.min(math.max(missing - (now - counted) * rate, 0), size)\n"
    "  if missing + token > size then\n"
    "    return 'P' .. string.format('%.0f', math.ceil((missing + token - size) / rate))\n"
    "  end\n"
    "  missing, counted = missing + token, now\n"
    "  write_gate()\n"
    "end\n"
    "local repeats = 0\n"
    "if state == 'R' or forced then\n"
    "  generation, after = generation + 1, 0\n"
    "elseif state == 'H' or (state == 'C' and by ~= owner) then\n"
    "  repeats = state == 'H' and 2 or 1\n"
    "  after = repeats\n"
    "end\n"
    "write('C', length)\n"
    "return 'C' .. generation * 4 + repeats\n";

static const char settle_text[] =
    PRELUDE
    LUA_SETTLE
    "return 'K0'\n";

static const char release_text[] =
    PRELUDE
    "if state == 'C' and by == owner then\n"
    "  if after > 0 then\n"
    "    owner = ''\n"
    "    write(after == 2 and 'H' or 'C', 0)\n"
    "  elseif generation > 0 then\n"
    "    write('F', 0)\n"
    "  else\n"
    "    redis.call('DEL', KEYS[1])\n"
    "  end\n"
    "end\n"
    "return 'K0'\n";

static const char hold_text[] =
    PRELUDE
    GATE
    "if state ~= 'R' and (by == owner or left <= 0) then write('H', length) end\n"
    "if KEYS[2] and resting < length then\n"
    "  rest_since, rest = now, length\n"
    "  write_gate()\n"
    "end\n"
    "return 'K0'\n";

/* clang-format on */

const char *redis_script_text(int script)
{
    static const char *const texts[] = {
        [STORE_PING] = NULL,          [STORE_CLAIM] = claim_text,
        [STORE_SETTLE] = settle_text, [STORE_RELEASE] = release_text,
        [STORE_HOLD] = hold_text,
    };

    if (script >= REDIS_THREADS_SCRIPTS)
        return redis_threads_script_text((enum threads_verb)(script - REDIS_THREADS_SCRIPTS));
    return texts[script];
}

/* --- commands --- */

static struct slice make_key(struct buf *buf, const char *kind, struct slice name)
{
    struct slice route, rest;

    slice_cut(name, '/', &route, &rest);
    buf_clear(buf);
    buf_append(buf, SLICE(REDIS_LAYOUT "{"));
    buf_append(buf, route);
    buf_append(buf, slice_from(kind));
    buf_append(buf, rest);
    return buf_slice(buf);
}

struct slice redis_script_claim(struct redis_command *command, int at, struct slice key)
{
    return make_key(&command->keys[at], "}:claim:", key);
}

void redis_script_command(struct redis_command *command, const struct store_op *op, const char *sha,
                          int64_t window_ms)
{
    if (op->verb == STORE_PING) {
        redis_command_start(command, "SET");
        redis_command_add(command, SLICE(REDIS_LAYOUT "ping"));
        redis_command_add(command, SLICE("1"));
        redis_command_add(command, SLICE("PX"));
        redis_command_add(command, SLICE("1000"));
        return;
    }
    bool gated = op->gate.len > 0 && (op->verb == STORE_CLAIM || op->verb == STORE_HOLD);
    redis_command_start(command, sha ? "EVALSHA" : "EVAL");
    redis_command_add(command, slice_from(sha ? sha : redis_script_text((int)op->verb)));
    redis_command_add(command, gated ? SLICE("2") : SLICE("1"));
    redis_command_add(command, redis_script_claim(command, 0, op->key));
    if (gated)
        redis_command_add(command, make_key(&command->keys[1], "}:gate:", op->gate));
    redis_command_add(command, op->owner);
    redis_command_add_number(command, window_ms);
    if (op->verb == STORE_CLAIM || op->verb == STORE_HOLD)
        redis_command_add_number(command, op->for_ms);
    if (op->verb != STORE_CLAIM)
        return;
    redis_command_add_number(command, op->again_ms);
    redis_command_add(command, op->force ? SLICE("1") : SLICE("0"));
    if (gated && op->pace.per_hour > 0) {
        redis_command_add_number(command, op->pace.per_hour);
        redis_command_add_number(command, op->pace.burst);
    }
}

/* --- answers --- */

/* One letter and a number: of a claim four times the generation, and what it repeats. */
static const struct {
    char letter;
    enum store_answer answer;
} answers[] = {
    {'K', STORE_OK},        {'L', STORE_LOST}, {'C', STORE_CLAIMED}, {'R', STORE_RELAYED},
    {'F', STORE_IN_FLIGHT}, {'H', STORE_HELD}, {'G', STORE_RESTING}, {'P', STORE_PACED},
};

bool redis_script_answer(struct store_op *op, struct slice text)
{
    uint64_t number = 0;

    if (op->verb == STORE_PING && slice_eq(text, SLICE("OK")))
        text = SLICE("K0");
    if (text.len < 2 || !slice_number(slice_from_at(text, 1), &number) || number > INT64_MAX)
        return false;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        if (answers[i].letter != text.data[0])
            continue;
        bool claimed = answers[i].answer == STORE_CLAIMED;
        if (claimed && number % 4 > REPEATS_ENDED_HOLD)
            return false;
        op->answer = answers[i].answer;
        op->answer_ms = claimed ? 0 : (int64_t)number;
        op->repeats = claimed ? (enum store_repeats)(number % 4) : REPEATS_NOTHING;
        op->generation = claimed ? (int64_t)(number / 4) : 0;
        return true;
    }
    return false;
}
