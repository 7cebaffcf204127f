/** Scripts about the gateways that share the state. */

import { script } from "./script.ts";

/**
 * Notes that a gateway is there, or that it leaves: id, `1` or `0`, how long others are remembered.
 * Returns of each gateway its id and the milliseconds since it was there, or -1 for one that left.
 * `p:` is a hash: gateway -> when it was there, negative for one that left then.
 */
export const beat = script(`
local key, result = prefix .. 'p:', {}
redis.call('HSET', key, ARGV[3], ARGV[4] == '1' and now or -now)
redis.call('PEXPIRE', key, ARGV[5])
local all = redis.call('HGETALL', key)
for at = 1, #all, 2 do
  local seen = tonumber(all[at + 1])
  if math.abs(seen) < now - tonumber(ARGV[5]) then redis.call('HDEL', key, all[at])
  else
    result[#result + 1] = all[at]
    result[#result + 1] = int(seen < 0 and -1 or math.max(0, now - seen))
  end
end
return result
`);
