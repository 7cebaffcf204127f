/** Scripts about stored bytes within bounds. */

import { ROOM } from "./room.ts";
import { script } from "./script.ts";

/**
 * What scripts over bounded entries begin with. Keys: `x:` an entry, `y:` its size and the names of
 * its bounds, `g:` the entries of a bound by their end (sorted set: `size:key`), `n:` their bytes,
 * `l:` the parts of a bound by their bytes, `t:` the same by their ends. A part has at most what
 * `l:` says: entries leave without a change of it.
 */
const BOUNDED = `
local function keep(key, ms)
  if redis.call('PTTL', key) < ms then redis.call('PEXPIRE', key, int(ms)) end
end
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
  BOUNDED,
  `
local count = 0
for at = 3, #ARGV do
  if redis.call('EXISTS', prefix .. 'x:' .. ARGV[at]) == 1 then count = count + 1 end
  drop(ARGV[at])
end
return count
`,
);

/** Stores an entry without bounds: key, bytes, how long. Returns 0, and has none, without room. */
export const store = script(
  ROOM,
  `
local name = prefix .. 'x:' .. ARGV[3]
if not hasRoom() then
  redis.call('DEL', name)
  return 0
end
redis.call('SET', name, ARGV[4], 'PX', ARGV[5])
return 1
`,
);

/** The parts of bounds. Where very many have ended, the oldest entry of all goes. */
const PARTS = `
local function bytesOf(name)
  return tonumber(redis.call('GET', prefix .. 'n:' .. name) or '0')
end
local function sweep(name)
  local set = prefix .. 'g:' .. name
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', set, '-inf', int(now), 'LIMIT', '0', '1000')) do
    leave(name, member, string.match(member, '^%d+'))
  end
end
local function has(name)
  return redis.call('EXISTS', prefix .. 'g:' .. name) == 1
end
local function forget(name, part)
  redis.call('ZREM', prefix .. 'l:' .. name, part)
  redis.call('ZREM', prefix .. 't:' .. name, part)
end
local function largest(name, own)
  local list = prefix .. 'l:' .. name
  for _ = 1, 64 do
    local top = redis.call('ZRANGE', list, '-1', '-1', 'WITHSCORES')
    if not top[1] then return name end
    sweep(top[1])
    local bytes = bytesOf(top[1])
    if not has(top[1]) then forget(name, top[1])
    elseif bytes < tonumber(top[2]) then redis.call('ZADD', list, int(bytes), top[1])
    elseif bytesOf(own) >= bytes and has(own) then return own
    else return top[1] end
  end
  return name
end
local function note(name, part, ttl)
  local list, byEnd = prefix .. 'l:' .. name, prefix .. 't:' .. name
  for _, over in ipairs(redis.call('ZRANGEBYSCORE', byEnd, '-inf', int(now), 'LIMIT', '0', '100')) do
    forget(name, over)
  end
  local last = redis.call('ZRANGE', prefix .. 'g:' .. part, '-1', '-1', 'WITHSCORES')
  if not last[1] then return end
  redis.call('ZADD', list, int(bytesOf(part)), part)
  redis.call('ZADD', byEnd, last[2], part)
  keep(list, ttl)
  keep(byEnd, ttl)
end
`;

/**
 * Makes room for an entry within its bounds: key, bytes, size, how long, then name, bytes and part
 * of each bound; no part is an empty text. It stores the bytes unless they are none: they are
 * elsewhere then. Returns the keys of the entries that went, or 0 for one that is larger than a
 * bound or has no room.
 */
export const admit = script(
  ROOM,
  BOUNDED,
  PARTS,
  `
local key, bytes, size, ttl = ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local meta, gone = { int(size) }, {}
drop(key)
if #bytes > 0 and not hasRoom() then return 0 end
for at = 7, #ARGV, 3 do
  if size > tonumber(ARGV[at + 1]) then return 0 end
  meta[#meta + 1] = ARGV[at]
end
for at = 7, #ARGV, 3 do
  local name, max, part = ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2]
  sweep(name)
  while bytesOf(name) + size > max do
    local from = name
    if part ~= '' then from = largest(name, part) end
    local oldest = redis.call('ZRANGE', prefix .. 'g:' .. from, '0', '0')[1]
    if not oldest then
      redis.call('DEL', prefix .. 'n:' .. name)
      break
    end
    local bytes, other = string.match(oldest, '^(%d+):(.*)$')
    drop(other)
    leave(from, oldest, bytes)
    leave(name, oldest, bytes)
    gone[#gone + 1] = other
  end
end
if #bytes > 0 then redis.call('SET', prefix .. 'x:' .. key, bytes, 'PX', int(ttl)) end
redis.call('SET', prefix .. 'y:' .. key, cjson.encode(meta), 'PX', int(ttl))
for at = 7, #ARGV, 3 do
  redis.call('ZADD', prefix .. 'g:' .. ARGV[at], int(now + ttl), int(size) .. ':' .. key)
  redis.call('INCRBY', prefix .. 'n:' .. ARGV[at], int(size))
  keep(prefix .. 'g:' .. ARGV[at], ttl)
  keep(prefix .. 'n:' .. ARGV[at], ttl)
end
for at = 7, #ARGV, 3 do
  if ARGV[at + 2] ~= '' then note(ARGV[at], ARGV[at + 2], ttl) end
end
return gone
`,
);
