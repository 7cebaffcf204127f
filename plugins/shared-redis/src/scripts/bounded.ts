/** Scripts about stored bytes within bounds. */

import { script } from "./script.ts";

/**
 * What scripts over bounded entries begin with. Keys: `x:` an entry, `y:` its size and the names of
 * its bounds, `g:` the entries of a bound by their end (sorted set: `size:key`), `n:` their bytes.
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

/**
 * Makes room for an entry within its bounds: key, bytes, size, how long, then name and bytes of
 * each bound. It stores the bytes unless they are none: they are elsewhere then. Returns the keys
 * of the entries that went, or 0 for one that is larger than a bound.
 */
export const admit = script(
  BOUNDED,
  `
local key, bytes, size, ttl = ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
local meta, gone = { int(size) }, {}
drop(key)
for at = 7, #ARGV, 2 do
  if size > tonumber(ARGV[at + 1]) then return 0 end
  meta[#meta + 1] = ARGV[at]
end
for at = 7, #ARGV, 2 do
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
    gone[#gone + 1] = other
  end
end
if #bytes > 0 then redis.call('SET', prefix .. 'x:' .. key, bytes, 'PX', int(ttl)) end
redis.call('SET', prefix .. 'y:' .. key, cjson.encode(meta), 'PX', int(ttl))
for at = 7, #ARGV, 2 do
  redis.call('ZADD', prefix .. 'g:' .. ARGV[at], int(now + ttl), int(size) .. ':' .. key)
  redis.call('INCRBY', prefix .. 'n:' .. ARGV[at], int(size))
  keep(prefix .. 'g:' .. ARGV[at], ttl)
  keep(prefix .. 'n:' .. ARGV[at], ttl)
end
return gone
`,
);
