/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All scripts get the same keys and the same arguments, used or not; the entries stand at the end.
 * They look before they write, so that a refusal changes nothing. A take is stricter than a
 * settlement: whatever says that the wake may have gone elsewhere is in its way.
 *
 * Without a thread's name among the arguments the feed is not told.
 *
 * Entries are trimmed by age where the server can do it (Redis 6.2); a read shows no older ones
 * anyway.
 */
#include "gateway/store/redis_threads_script.h"

#include "gateway/store/redis_lua.h"
#include "gateway/store/redis_script.h"
#include "gateway/store/threads_impl.h"

/* clang-format off */

#define PRELUDE \
    "local history, feed, offer, settled, present = unpack(KEYS)\n" \
    "local thread, kept, kept_ms, window = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])\n" \
    "local id, who, claim, length, number = unpack(ARGV, 5, 9)\n" \
    LUA_NOW \
    "local function alive(since, span)\n" \
    "  since, span = tonumber(since), tonumber(span)\n" \
    "  return since and since <= now and now < since + span\n" \
    "end\n" \
    "local function append()\n" \
    "  if #ARGV < 10 then return end\n" \
    "  for i = 10, #ARGV do redis.call('XADD', history, '*', 'e', ARGV[i]) end\n" \
    "  redis.call('XTRIM', history, 'MAXLEN', kept)\n" \
    "  redis.pcall('XTRIM', history, 'MINID', math.max(now - kept_ms, 0))\n" \
    "  redis.call('PEXPIRE', history, kept_ms)\n" \
    "  if thread ~= '' then redis.call('XADD', feed, 'MAXLEN', '~', 1000, '*', 't', thread) end\n" \
    "end\n"

/* The pending offer, as far as it counts. */
#define PENDING \
    "local pending = redis.call('HMGET', offer, 'id', 'owner', 'claim', 'since', 'span')\n" \
    "if not alive(pending[4], pending[5]) then pending = {} end\n"

/* The offer `id` is over. */
#define SETTLED \
    "local function settle(how)\n" \
    "  redis.call('SET', settled, how, 'PX', window)\n" \
    "  if redis.call('HGET', offer, 'id') == id then redis.call('DEL', offer) end\n" \
    "end\n"

static const char append_text[] =
    PRELUDE
    "append()\n"
    "return 'D'\n";

/* `id` is the position to read from, `who` is set where only the end is wanted. */
static const char read_text[] =
    PRELUDE
    PENDING
    "local found = {'0', pending[1] or ''}\n"
    "if who ~= '' then\n"
    "  local last = redis.call('XREVRANGE', history, '+', '-', 'COUNT', 1)[1]\n"
    "  return {'0', '', last and last[1], last and ''}\n"
    "end\n"
    "local oldest = math.max(now - kept_ms, 0)\n"
    "if tonumber(string.match(id, '^%d+')) < oldest then id = oldest .. '-0' end\n"
    "local page = redis.call('XREAD', 'COUNT', claim, 'STREAMS', history, id)\n"
    "local entries = page and page[1][2] or {}\n"
    "local bytes = 0\n"
    "for i, entry in ipairs(entries) do\n"
    "  found[2 * i + 1], found[2 * i + 2] = entry[1], entry[2][2]\n"
    "  bytes = bytes + #entry[2][2]\n"
    "  if i == tonumber(claim) or bytes > tonumber(length) then\n"
    "    found[1] = '1'\n"
    "    break\n"
    "  end\n"
    "end\n"
    "return found\n";

static const char offer_text[] =
    PRELUDE
    PENDING
    "if redis.call('EXISTS', settled) == 1 then return 'S' end\n"
    "if pending[1] then return pending[1] == id and pending[2] == who and 'D' or 'B' end\n"
    "local some = 0\n"
    "local all = redis.call('HGETALL', present)\n"
    "for i = 1, #all, 2 do\n"
    "  local since, span, count = string.match(all[i + 1], '^(%d+) (%d+) (%d+)$')\n"
    "  if alive(since, span) then some = some + count else redis.call('HDEL', present, all[i]) end\n"
    "end\n"
    "if some == 0 then return 'N' end\n"
    "redis.call('HSET', offer, 'id', id, 'owner', who, 'claim', claim, 'since', now, 'span', length)\n"
    "redis.call('PEXPIRE', offer, length)\n"
    "append()\n"
    "return 'D'\n";

static const char take_text[] =
    PRELUDE
    PENDING
    SETTLED
    "if pending[1] ~= id then return 'S' end\n"
    "local function relay(key, owner)\n"
    LUA_RECORD
    "if state == 'R' or (record and by ~= owner) then return 'L0' end\n"
    LUA_SETTLE
    "end\n"
    "if relay(pending[3], pending[2]) then\n"
    "  settle('W')\n"
    "  return 'S'\n"
    "end\n"
    "settle('T' .. who)\n"
    "append()\n"
    "return 'D'\n";

static const char withdraw_text[] =
    PRELUDE
    PENDING
    SETTLED
    "local before = redis.call('GET', settled)\n"
    "if before then return before == 'W' and 'D' or 'S' end\n"
    "if pending[1] == id and pending[2] ~= who then return 'S' end\n"
    "settle('W')\n"
    "append()\n"
    "return 'D'\n";

static const char present_text[] =
    PRELUDE
    "if number == '0' then\n"
    "  redis.call('HDEL', present, who)\n"
    "  return 'D'\n"
    "end\n"
    "redis.call('HSET', present, who, now .. ' ' .. length .. ' ' .. number)\n"
    "if redis.call('PTTL', present) < tonumber(length) then\n"
    "  redis.call('PEXPIRE', present, length)\n"
    "end\n"
    "return 'D'\n";

/* clang-format on */

const char *redis_threads_script_text(enum threads_verb verb)
{
    static const char *const texts[] = {
        [THREADS_APPEND] = append_text,     [THREADS_READ] = read_text,
        [THREADS_OFFER] = offer_text,       [THREADS_TAKE] = take_text,
        [THREADS_WITHDRAW] = withdraw_text, [THREADS_PRESENT] = present_text,
    };

    return texts[verb];
}

/* --- commands --- */

static void add_key(struct redis_command *command, int at, const char *kind, struct slice thread)
{
    struct buf *buf = &command->keys[at];

    buf_clear(buf);
    buf_appendf(buf, REDIS_LAYOUT "%s{", kind);
    buf_append(buf, thread);
    buf_append_char(buf, '}');
    redis_command_add(command, buf_slice(buf));
}

/* The id's length makes it clear where the thread begins, whatever is in either. */
static void add_settled(struct redis_command *command, int at, const struct threads_op *op)
{
    struct buf *buf = &command->keys[at];

    buf_clear(buf);
    buf_appendf(buf, REDIS_LAYOUT "settled:%zu:", op->offer.len);
    buf_append(buf, op->offer);
    buf_append_char(buf, '{');
    buf_append(buf, op->thread);
    buf_append_char(buf, '}');
    redis_command_add(command, buf_slice(buf));
}

static void add_keys(struct redis_command *command, const struct threads_op *op)
{
    redis_command_add(command, SLICE("5"));
    add_key(command, 0, "history:", op->thread);
    redis_command_add(command, SLICE(REDIS_FEED));
    add_key(command, 1, "offer:", op->thread);
    add_settled(command, 2, op);
    add_key(command, 3, "present:", op->thread);
}

static struct slice who(const struct threads_op *op)
{
    if (op->verb == THREADS_TAKE)
        return op->taker;
    return op->verb == THREADS_PRESENT ? op->instance : op->owner;
}

void redis_threads_script_command(struct redis_command *command, const struct threads_op *op,
                                  const char *sha, const struct threads_settings *settings)
{
    redis_command_start(command, sha ? "EVALSHA" : "EVAL");
    redis_command_add(command, slice_from(sha ? sha : redis_threads_script_text(op->verb)));
    add_keys(command, op);
    redis_command_add(command, settings->unfollowed ? SLICE("") : op->thread);
    redis_command_add_number(command, settings->kept);
    redis_command_add_number(command, settings->kept_ms);
    redis_command_add_number(command, settings->window_ms);
    if (op->verb == THREADS_READ) {
        redis_command_add(command, op->from);
        redis_command_add(command, op->only_end ? SLICE("1") : SLICE(""));
        redis_command_add_number(command, THREADS_PAGE_ENTRIES);
        redis_command_add_number(command, THREADS_PAGE_BYTES);
        return;
    }
    redis_command_add(command, op->offer);
    redis_command_add(command, who(op));
    redis_command_add(command, redis_script_claim(command, 4, op->key));
    redis_command_add_number(command, op->for_ms);
    redis_command_add_number(command, op->count);
    for (size_t i = 0; i < op->entry_count; i++)
        redis_command_add(command, op->entries[i]);
}

/* --- answers --- */

bool redis_threads_script_answer(struct threads_op *op, struct slice text)
{
    static const struct {
        char letter;
        enum threads_answer answer;
    } answers[] = {
        {'D', THREADS_DONE},
        {'B', THREADS_BUSY},
        {'S', THREADS_SETTLED},
        {'N', THREADS_NOBODY},
    };

    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        if (text.len != 1 || text.data[0] != answers[i].letter)
            continue;
        op->answer = answers[i].answer;
        return true;
    }
    return false;
}
