/** Scripts about records of requests: each change is one. */

import { ROOM } from "./room.ts";
import { script } from "./script.ts";

/**
 * Asks for a request's key: key, digest of the body, owner, lease. Earlier versions stored a result
 * without `done`.
 */
export const begin = script(`
local key = prefix .. 'i:' .. ARGV[3]
local v = redis.call('HMGET', key, 'digest', 'owner', 'done')
if not v[1] then
  redis.call('HSET', key, 'digest', ARGV[4], 'owner', ARGV[5])
elseif v[1] ~= ARGV[4] then return 'conflict'
elseif v[3] or redis.call('HGET', key, 'bytes') then return 'done'
elseif v[2] ~= ARGV[5] then return 'running' end
redis.call('PEXPIRE', key, ARGV[6])
return 'new'
`);

/** Keeps a request's result: key, owner, bytes, how long. Without room it frees the key. */
export const complete = script(
  ROOM,
  `
local key = prefix .. 'i:' .. ARGV[3]
local v = redis.call('HMGET', key, 'owner', 'bytes')
if v[1] ~= ARGV[4] or v[2] then return 0 end
if not hasRoom() then
  redis.call('DEL', key)
  return 0
end
redis.call('HSET', key, 'bytes', ARGV[5], 'done', '1')
redis.call('PEXPIRE', key, ARGV[6])
return 1
`,
);

/** Frees a request's key: key, owner. */
export const abandon = script(`
local key = prefix .. 'i:' .. ARGV[3]
local v = redis.call('HMGET', key, 'owner', 'bytes')
if v[1] == ARGV[4] and not v[2] then redis.call('DEL', key) end
return 1
`);
