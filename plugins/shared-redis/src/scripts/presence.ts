/** Scripts about the gateways that share the state. */

import { script } from "./script.ts";

/** The field of the time at which the last successor reported first. */
export const SUCCEEDED = "#succeeded";

/**
 * Notes that a gateway is there, or that it leaves: id, `1` or `0`, how long others are remembered,
 * `1` for the first report of one whose earlier process was killed while it decided alone. Returns
 * of each gateway its id and the milliseconds since it was there, or -1 for one that left; of
 * `SUCCEEDED` the time. `p:` is a hash: gateway -> when it was there, negative for one that left
 * then.
 */
export const beat = script(`
local key, result = prefix .. 'p:', {}
redis.call('HSET', key, ARGV[3], ARGV[4] == '1' and now or -now)
if ARGV[6] == '1' then redis.call('HSET', key, '${SUCCEEDED}', now) end
redis.call('PEXPIRE', key, ARGV[5])
local all = redis.call('HGETALL', key)
for at = 1, #all, 2 do
  local seen = tonumber(all[at + 1])
  local isTime = all[at] == '${SUCCEEDED}'
  if not isTime and math.abs(seen) < now - tonumber(ARGV[5]) then redis.call('HDEL', key, all[at])
  else
    result[#result + 1] = all[at]
    result[#result + 1] = int(isTime and seen or seen < 0 and -1 or math.max(0, now - seen))
  end
end
return result
`);
