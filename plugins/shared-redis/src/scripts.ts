/**
 * The scripts: one decision each, run by Redis as one. Times are the server's, money and counts are
 * integers below 2^53.
 */

import { createHash } from "node:crypto";

/** A script and the digest by which Redis knows it. */
export interface Script {
  readonly source: string;
  readonly sha1: string;
}

/**
 * What every script begins with. Keys, all below one prefix: `w:` a window (hash: part -> amount),
 * `c:` slots (sorted set: reservation -> end of its lease), `b:` a budget (hash), `h:` what each
 * reservation holds of it and `e:` until when, `r:` a reservation's windows, `s:` a settled
 * reservation. A number becomes text by `%.0f`: Lua's own way keeps fourteen digits. Results are
 * text too: reading an integer reply digit by digit loses the last ones near 2^53.
 *
 * `seeded` is the run id of the server that was seeded. Another one has restarted from a copy of
 * its memory, or was the replica: settlements may be missing. `floor` is what that copy says.
 */
const PRELUDE = `
local prefix, run = ARGV[1], table.remove(ARGV, 2)
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local PARTS = 61
local BUDGET_MS = 86400000
local function int(n) return string.format('%.0f', n) end
local function keep(key, ms)
  if redis.call('PTTL', key) < ms then redis.call('PEXPIRE', key, int(ms)) end
end
local function presentPart(ms) return math.floor(now / (ms / (PARTS - 1))) + PARTS end
local function window(key, ms)
  local present, used, newest, parts = presentPart(ms), 0, 0, {}
  local all = redis.call('HGETALL', key)
  for at = 1, #all, 2 do
    local value = tonumber(all[at + 1])
    if all[at] == 'ms' then
      if value ~= ms then
        redis.call('DEL', key)
        return { used = 0, newest = 0, parts = {}, present = present, ms = ms }
      end
    else
      local part = tonumber(all[at])
      if part <= present - PARTS then redis.call('HDEL', key, all[at])
      elseif value > 0 then
        parts[part] = value
        used = used + value
        if part > newest then newest = part end
      end
    end
  end
  return { used = used, newest = newest, parts = parts, present = present, ms = ms }
end
local function windowAdd(key, ms, amount)
  local part = int(presentPart(ms))
  redis.call('HSET', key, 'ms', int(ms))
  redis.call('HINCRBY', key, part, int(amount))
  keep(key, ms * 2)
  return part
end
local function waitFor(w, amount, limit)
  local surplus = w.used + amount - limit
  if surplus <= 0 then return 0 end
  for part = w.present - PARTS + 1, w.present do
    surplus = surplus - (w.parts[part] or 0)
    if surplus <= 0 then return math.max(1, math.ceil(part * w.ms / (PARTS - 1) - now)) end
  end
  return w.ms
end
local function slotsUsed(key)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', int(now))
  return redis.call('ZCARD', key)
end
local function letGo(key, id)
  local amount = redis.call('HGET', prefix .. 'h:' .. key, id)
  if not amount then return end
  redis.call('HDEL', prefix .. 'h:' .. key, id)
  redis.call('ZREM', prefix .. 'e:' .. key, id)
  redis.call('HINCRBY', prefix .. 'b:' .. key, 'reserved', '-' .. amount)
end
local function budget(key)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', prefix .. 'e:' .. key, '-inf', int(now))) do letGo(key, id) end
  local v = redis.call('HMGET', prefix .. 'b:' .. key, 'seeded', 'spent', 'reserved')
  return { seeded = v[1] == run, stale = v[1] and v[1] ~= run, spent = tonumber(v[2] or '0'), reserved = tonumber(v[3] or '0') }
end
local function keepBudget(key)
  keep(prefix .. 'b:' .. key, BUDGET_MS)
  keep(prefix .. 'h:' .. key, BUDGET_MS)
  keep(prefix .. 'e:' .. key, BUDGET_MS)
end
local function hold(key, id, amount, lease)
  redis.call('HSET', prefix .. 'h:' .. key, id, int(amount))
  redis.call('ZADD', prefix .. 'e:' .. key, int(now + lease), id)
  redis.call('HINCRBY', prefix .. 'b:' .. key, 'reserved', int(amount))
  keepBudget(key)
end
-- Claims follow in ARGV from the fourth on: kind, key, limit, amount, length of the window.
local function claims()
  local list = {}
  for at = 4, #ARGV, 5 do
    list[#list + 1] = {
      kind = ARGV[at], key = ARGV[at + 1],
      limit = tonumber(ARGV[at + 2]), amount = tonumber(ARGV[at + 3]), ms = tonumber(ARGV[at + 4]),
    }
  end
  return list
end
`;

/**
 * Takes all claims or none: `{ outcome, index of the claim that does not fit, never fits, wait,
 * remaining, reset, remaining, reset, ... }` or the unseeded keys.
 */
export const take = script(`
local id, lease, list = ARGV[2], tonumber(ARGV[3]), claims()
if redis.call('EXISTS', prefix .. 's:' .. id) == 1 then return { 'settled' } end
local isHeld = redis.call('EXISTS', prefix .. 'r:' .. id) == 1
local unseeded, failed, wait = { 'unseeded' }, 0, 0
for at, c in ipairs(list) do
  if c.kind == 'window' then
    c.window = window(prefix .. 'w:' .. c.key, c.ms)
    c.used = c.window.used
  elseif c.kind == 'concurrent' then
    c.used = slotsUsed(prefix .. 'c:' .. c.key)
  else
    local b = budget(c.key)
    c.used = b.spent + b.reserved
    if not b.seeded then
      unseeded[#unseeded + 1] = c.key
      -- From here on what is settled is counted, and the seed is added to it.
      if b.stale then
        redis.call('HDEL', prefix .. 'b:' .. c.key, 'seeded')
        redis.call('HSET', prefix .. 'b:' .. c.key, 'floor', int(b.spent), 'spent', '0')
      end
      redis.call('HSETNX', prefix .. 'b:' .. c.key, 'spent', '0')
      keepBudget(c.key)
    end
  end
  -- A budget of 0 refuses what costs nothing too.
  local isClosed = c.kind == 'budget' and c.limit == 0
  if failed == 0 and (isClosed or c.used + c.amount > c.limit) then failed = at end
end
if not isHeld and #unseeded > 1 then return unseeded end
local granted = isHeld or failed == 0
if granted and not isHeld then
  local parts = {}
  for at, c in ipairs(list) do
    parts[at] = '-'
    c.used = c.used + c.amount
    if c.kind == 'window' then
      local part = windowAdd(prefix .. 'w:' .. c.key, c.ms, c.amount)
      parts[at] = part .. ':' .. int(c.amount)
      if c.amount > 0 then c.window.newest = tonumber(part) end
    elseif c.kind == 'concurrent' then
      redis.call('ZADD', prefix .. 'c:' .. c.key, int(now + lease), id)
      keep(prefix .. 'c:' .. c.key, lease * 2)
    else
      hold(c.key, id, c.amount, lease)
    end
  end
  redis.call('SET', prefix .. 'r:' .. id, table.concat(parts, ' '), 'PX', int(lease))
end
local neverFits = 0
if not granted and list[failed].amount > list[failed].limit then neverFits = 1 end
local result = { granted and 'granted' or 'refused', failed - 1, neverFits, -1 }
for _, c in ipairs(list) do
  local reset = -1
  if c.kind == 'window' then
    reset = 0
    if c.used > 0 then reset = math.max(0, math.ceil(c.window.newest * c.ms / (PARTS - 1) - now)) end
    if not granted and c.amount <= c.limit then wait = math.max(wait, waitFor(c.window, c.amount, c.limit)) end
  end
  result[#result + 1] = int(math.max(0, c.limit - c.used))
  result[#result + 1] = int(reset)
end
if not granted and neverFits == 0 and list[failed].kind == 'window' then result[4] = int(wait) end
return result
`);

/** Ends a reservation once. */
export const settle = script(`
local id, list = ARGV[2], claims()
if not redis.call('SET', prefix .. 's:' .. id, '1', 'NX', 'PX', '3600000') then return 0 end
local taken = {}
for part in string.gmatch(redis.call('GET', prefix .. 'r:' .. id) or '', '%S+') do taken[#taken + 1] = part end
redis.call('DEL', prefix .. 'r:' .. id)
for at, c in ipairs(list) do
  if c.kind == 'window' then
    local part, amount = string.match(taken[at] or '', '(%d+):(%d+)')
    if part then
      local key, difference = prefix .. 'w:' .. c.key, c.amount - tonumber(amount)
      if difference > 0 then windowAdd(key, c.ms, difference)
      elseif difference < 0 and tonumber(part) > presentPart(c.ms) - PARTS then
        local there = tonumber(redis.call('HGET', key, part) or '0')
        local back = math.min(-difference, there)
        if back > 0 then redis.call('HINCRBY', key, part, int(-back)) end
      end
    end
  elseif c.kind == 'concurrent' then
    redis.call('ZREM', prefix .. 'c:' .. c.key, id)
  else
    letGo(c.key, id)
    -- A budget that is not kept is seeded from the ledger, which has this cost.
    if redis.call('EXISTS', prefix .. 'b:' .. c.key) == 1 then
      redis.call('HINCRBY', prefix .. 'b:' .. c.key, 'spent', int(c.amount))
      keepBudget(c.key)
    end
  end
end
return 1
`);

/** Extends the lease of one reservation and puts back what was lost of it. */
export const renew = script(`
local id, lease, list = ARGV[2], tonumber(ARGV[3]), claims()
if redis.call('EXISTS', prefix .. 's:' .. id) == 1 then return 0 end
for _, c in ipairs(list) do
  if c.kind == 'concurrent' then
    redis.call('ZADD', prefix .. 'c:' .. c.key, int(now + lease), id)
    keep(prefix .. 'c:' .. c.key, lease * 2)
  elseif c.kind == 'budget' then
    if redis.call('HEXISTS', prefix .. 'h:' .. c.key, id) == 1 then
      redis.call('ZADD', prefix .. 'e:' .. c.key, int(now + lease), id)
      keepBudget(c.key)
    else
      hold(c.key, id, c.amount, lease)
    end
  end
end
if redis.call('PEXPIRE', prefix .. 'r:' .. id, int(lease)) == 0 then
  redis.call('SET', prefix .. 'r:' .. id, '', 'PX', int(lease))
end
return 1
`);

/** Says what was spent, unless that is known: key, nano-dollars. */
export const seed = script(`
local key = prefix .. 'b:' .. ARGV[2]
local v = redis.call('HMGET', key, 'seeded', 'spent', 'floor')
if v[1] == run then return 0 end
local floor = tonumber(v[3] or '0')
if v[1] then
  floor = math.max(floor, tonumber(v[2] or '0'))
  redis.call('HSET', key, 'spent', '0')
end
redis.call('HSET', key, 'seeded', run)
redis.call('HINCRBY', key, 'spent', int(math.max(tonumber(ARGV[3]), floor)))
redis.call('HDEL', key, 'floor')
keepBudget(ARGV[2])
return 1
`);

/** What is kept under keys: window, slots, spent, reserved of each; -1 for nothing. */
export const read = script(`
local result = {}
for at = 2, #ARGV do
  local key = ARGV[at]
  local ms = redis.call('HGET', prefix .. 'w:' .. key, 'ms')
  result[#result + 1] = ms and window(prefix .. 'w:' .. key, tonumber(ms)).used or -1
  result[#result + 1] = redis.call('EXISTS', prefix .. 'c:' .. key) == 1 and slotsUsed(prefix .. 'c:' .. key) or -1
  local exists, b = redis.call('EXISTS', prefix .. 'b:' .. key) == 1, budget(key)
  result[#result + 1] = int(b.seeded and b.spent or -1)
  result[#result + 1] = int(exists and b.reserved or -1)
end
return result
`);

/** Forgets what is kept under a key; reserved money stays. */
export const reset = script(`
redis.call('DEL', prefix .. 'w:' .. ARGV[2], prefix .. 'c:' .. ARGV[2])
redis.call('HDEL', prefix .. 'b:' .. ARGV[2], 'seeded', 'spent', 'floor')
return 1
`);

/** Asks for a request's key: key, digest of the body, owner, lease. */
export const begin = script(`
local key = prefix .. 'i:' .. ARGV[2]
local v = redis.call('HMGET', key, 'digest', 'owner', 'bytes')
if not v[1] then
  redis.call('HSET', key, 'digest', ARGV[3], 'owner', ARGV[4])
elseif v[1] ~= ARGV[3] then return { 'conflict' }
elseif v[3] then return { 'done', v[3] }
elseif v[2] ~= ARGV[4] then return { 'running' } end
redis.call('PEXPIRE', key, ARGV[5])
return { 'new' }
`);

/** Keeps a request's result: key, owner, bytes, how long. */
export const complete = script(`
local key = prefix .. 'i:' .. ARGV[2]
local v = redis.call('HMGET', key, 'owner', 'bytes')
if v[1] ~= ARGV[3] or v[2] then return 0 end
redis.call('HSET', key, 'bytes', ARGV[4])
redis.call('PEXPIRE', key, ARGV[5])
return 1
`);

/** Frees a request's key: key, owner. */
export const abandon = script(`
local key = prefix .. 'i:' .. ARGV[2]
local v = redis.call('HMGET', key, 'owner', 'bytes')
if v[1] == ARGV[3] and not v[2] then redis.call('DEL', key) end
return 1
`);

/**
 * What scripts over bounded entries begin with. Keys: `x:` an entry, `y:` its size and the names of
 * its bounds, `g:` the entries of a bound by their end (sorted set: `size:key`), `n:` their bytes.
 */
const BOUNDED = `
local function leave(name, member, size)
  if redis.call('ZREM', prefix .. 'g:' .. name, member) == 1 then
    return redis.call('INCRBY', prefix .. 'n:' .. name, '-' .. size)
  end
end
local function drop(key)
  local meta = redis.call('GET', prefix .. 'y:' .. key)
  if meta then
    local m = cjson.decode(meta)
    for at = 2, #m do leave(m[at], m[1] .. ':' .. key, m[1]) end
  end
  return redis.call('DEL', prefix .. 'x:' .. key, prefix .. 'y:' .. key)
end
`;

/** Deletes entries: keys. Returns their number. */
export const drop = script(
  `${BOUNDED}
local count = 0
for at = 2, #ARGV do
  if redis.call('EXISTS', prefix .. 'x:' .. ARGV[at]) == 1 then count = count + 1 end
  drop(ARGV[at])
end
return count
`,
);

/** Keeps an entry within bounds: key, bytes, how long, then name and bytes of each bound. */
export const keepBounded = script(
  `${BOUNDED}
local key, bytes, ttl, size = ARGV[2], ARGV[3], tonumber(ARGV[4]), #ARGV[3]
local meta = { int(size) }
drop(key)
for at = 5, #ARGV, 2 do
  if size > tonumber(ARGV[at + 1]) then return 0 end
  meta[#meta + 1] = ARGV[at]
end
for at = 5, #ARGV, 2 do
  local name, max = ARGV[at], tonumber(ARGV[at + 1])
  local set, used = prefix .. 'g:' .. name, prefix .. 'n:' .. name
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', set, '-inf', int(now), 'LIMIT', '0', '1000')) do
    leave(name, member, string.match(member, '^%d+'))
  end
  while tonumber(redis.call('GET', used) or '0') + size > max do
    local oldest = redis.call('ZRANGE', set, '0', '0')[1]
    if not oldest then
      redis.call('DEL', used)
      break
    end
    local bytesOf, other = string.match(oldest, '^(%d+):(.*)$')
    drop(other)
    leave(name, oldest, bytesOf)
  end
end
redis.call('SET', prefix .. 'x:' .. key, bytes, 'PX', int(ttl))
redis.call('SET', prefix .. 'y:' .. key, cjson.encode(meta), 'PX', int(ttl))
for at = 5, #ARGV, 2 do
  redis.call('ZADD', prefix .. 'g:' .. ARGV[at], int(now + ttl), int(size) .. ':' .. key)
  redis.call('INCRBY', prefix .. 'n:' .. ARGV[at], int(size))
  keep(prefix .. 'g:' .. ARGV[at], ttl)
  keep(prefix .. 'n:' .. ARGV[at], ttl)
end
return 1
`,
);

function script(body: string): Script {
  const source = PRELUDE + body;
  return { source, sha1: createHash("sha1").update(source).digest("hex") };
}
