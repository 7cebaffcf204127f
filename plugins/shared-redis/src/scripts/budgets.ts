/** Scripts about the counters under single keys: seed, read and reset. */

import { BUDGETS, SLOTS, WINDOWS } from "./counters.ts";
import { script } from "./script.ts";

/**
 * Sets what was spent, unless that is known: key, nano-dollars, milliseconds since the ledger was
 * asked. A copy of another server's memory is the lower bound: ledgers of gateways with a store of
 * their own have their own rows only.
 */
export const seed = script(
  BUDGETS,
  `
local key = ARGV[3]
local b = budget(key)
if b.seeded then
  -- One that is read again. What was settled meanwhile may be in the ledger or not: a later time.
  local tried = tonumber(redis.call('HGET', b.name, 'tried') or '0')
  if tried == 0 or b.reserved > 0 or b.settled >= tried then return 0 end
  redis.call('HSET', b.name, 'spent', math.max(b.spent, tonumber(ARGV[4])), 'from', now - tonumber(ARGV[5]))
  redis.call('HDEL', b.name, 'tried', 'withheld', 'withheldAt', 'before', 'beforeAt')
  return 1
end
local floor = tonumber(redis.call('HGET', b.name, 'floor') or '0')
if b.stale then floor, b.spent = math.max(floor, b.spent), 0 end
b.spent = b.spent + math.max(tonumber(ARGV[4]), floor)
redis.call('HSET', b.name, 'seeded', run, 'spent', b.spent, 'from', now - tonumber(ARGV[5]))
redis.call('HDEL', b.name, 'floor', 'asked')
keepBudget(b, key)
return 1
`,
);

/** What is stored under keys: window, slots, spent, reserved of each; -1 for nothing. */
export const read = script(
  WINDOWS,
  SLOTS,
  BUDGETS,
  `
local result = {}
for at = 3, #ARGV do
  local key = ARGV[at]
  local ms = redis.call('HGET', prefix .. 'v:' .. key, 'ms')
  result[#result + 1] = ms and int(window(key, tonumber(ms)).used) or '-1'
  result[#result + 1] = redis.call('EXISTS', prefix .. 'c:' .. key) == 1 and slotsUsed(key) or '-1'
  local b = budget(key)
  result[#result + 1] = int(b.seeded and b.spent or -1)
  result[#result + 1] = int(b.exists and b.reserved or -1)
end
return table.concat(result, ' ')
`,
);

/** Deletes what is stored under a key; reserved money stays. */
export const reset = script(`
redis.call('DEL', prefix .. 'v:' .. ARGV[3], prefix .. 'c:' .. ARGV[3])
redis.call('HDEL', prefix .. 'b:' .. ARGV[3], 'seeded', 'spent', 'floor', 'from', 'asked')
return 1
`);
