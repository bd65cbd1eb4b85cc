/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_lua: what several scripts have in common: the server's clock, the record of a claim, and
 * how a claim becomes relayed.
 */
#ifndef WAKEGATE_STORE_REDIS_LUA_H
#define WAKEGATE_STORE_REDIS_LUA_H

/* clang-format off */

#define LUA_NOW \
    "local t = redis.call('TIME')\n" \
    "local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"

/* Reads the claim `key`. Wants: key, owner, window, now. */
#define LUA_RECORD \
    "local record = redis.call('GET', key)\n" \
    "local state, since, span, generation, after, by = 'F', now, 0, 0, 0, ''\n" \
    "if record then\n" \
    "  state, since, span, generation, after, by =\n" \
    "    string.match(record, '^(%u)(%d+) (%d+) (%d+) (%d) (.*)$')\n" \
    "  since, span = tonumber(since), tonumber(span)\n" \
    "  generation, after = tonumber(generation), tonumber(after)\n" \
    "  if since > now then\n" \
    "    since = now\n" \
    "    redis.call('SET', key,\n" \
    "      table.concat({state .. now, span, generation, after, by}, ' '), 'KEEPTTL')\n" \
    "  end\n" \
    "end\n" \
    "local left = since + span - now\n" \
    "local function write(new, long)\n" \
    "  redis.call('SET', key,\n" \
    "    table.concat({new .. now, long, generation, after, owner}, ' '), 'PX', long + window)\n" \
    "end\n"

/* After LUA_RECORD. Returns where another owner has the claim. */
#define LUA_SETTLE \
    "if by ~= owner and (state == 'R' or (state == 'C' and left > 0)) then return 'L0' end\n" \
    "if state ~= 'R' then write('R', 0) end\n"

/* clang-format on */

#endif
