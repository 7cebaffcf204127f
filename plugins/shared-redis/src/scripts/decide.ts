/** The decisions about reservations: take, settle, renew and release, several in one call. */

import { BUDGETS, SLOTS, WINDOWS } from "./counters.ts";
import { script } from "./script.ts";

/** The operations, by the number that a call names them with. */
export const OPERATION = { take: 0, settle: 1, renew: 2, release: 3 } as const;

/** The kinds of claims, by their number. */
export const KIND = { window: 0, concurrent: 1, budget: 2 } as const;

/** How long a settled reservation is remembered: without a reply the settlement is sent again. */
const SETTLED_MS = 300_000;

/**
 * `r:` is a reservation: what it took, by its claims (`part:amount` of a window, the amount of a
 * budget), or `x` when it is settled.
 */
const RESERVATIONS = `
local SETTLED_MS = ${SETTLED_MS}
local function takenOf(text)
  local taken = {}
  for one in string.gmatch(text or '', '%S+') do taken[#taken + 1] = one end
  return taken
end
`;

/**
 * A take answers `g` and what is left of each claim, `r` with the index of the claim that does not
 * fit, whether it never does and the wait, `u` and the claims without a seed, or `s` when the
 * reservation is settled. All in text: integers of a reply lose their last digits near 2^53.
 */
const TAKE = `
local WITHHELD_MS, QUIET_MS, TRY_MS, MAX_LIMIT = 60000, 3000, 5000, ${Number.MAX_SAFE_INTEGER}
local missingPart, absentPart, succeededAt = 0, 0, 0
-- Whether a budget was read before the ledger had what a gateway spent alone that was killed.
local function isBehind(b, limit)
  return succeededAt > 0 and limit < MAX_LIMIT and b.from <= succeededAt
end
-- What is left to gateways that may decide alone: their part of what was left when they were missed.
local function withheld(b, limit)
  if limit >= MAX_LIMIT or missingPart == 0 and not isBehind(b, limit) then return 0 end
  local v = redis.call('HMGET', b.name, 'withheld', 'withheldAt', 'before', 'beforeAt')
  local amount = tonumber(v[1] or '0')
  if now - tonumber(v[2] or '0') > WITHHELD_MS then
    local spent = b.spent
    if now - tonumber(v[4] or '0') < WITHHELD_MS then spent = math.min(spent, tonumber(v[3])) end
    amount = math.ceil(math.max(0, limit - spent) * absentPart)
  end
  redis.call('HSET', b.name, 'withheld', amount, 'withheldAt', now)
  return amount
end
-- Whether a budget that is behind is to be read again now: all its rows are in the ledger. A ledger
-- that does not answer is asked again later; until then the counter serves.
local function readsAgain(b, limit)
  if missingPart > 0 or b.reserved > 0 or now - b.settled < QUIET_MS or not isBehind(b, limit) then return false end
  if now - tonumber(redis.call('HGET', b.name, 'tried') or '0') < TRY_MS then return false end
  redis.call('HSET', b.name, 'tried', now)
  return true
end
local function look(list)
  local failed, unseeded = 0, {}
  for at, c in ipairs(list) do
    if c.kind == 0 then
      c.window = window(c.key, c.ms)
      c.used = c.window.used
    elseif c.kind == 1 then c.used = slotsUsed(c.key)
    else
      local b = budget(c.key)
      c.budget, c.used = b, b.spent + b.reserved
      if b.seeded then
        c.used = c.used + withheld(b, c.limit)
        if readsAgain(b, c.limit) then unseeded[#unseeded + 1] = int(at - 1) end
      end
      if not b.seeded then
        unseeded[#unseeded + 1] = int(at - 1)
        -- From here on what is settled is counted, and the seed is added to it.
        if b.stale then
          redis.call('HDEL', b.name, 'seeded')
          redis.call('HSET', b.name, 'floor', b.spent, 'spent', '0', 'before', b.spent, 'beforeAt', now)
        end
        -- An evicted budget has lost its sums: what is still held is put back by renewals.
        if not b.exists then redis.call('DEL', prefix .. 'e:' .. c.key, prefix .. 'h:' .. c.key) end
        redis.call('HSETNX', b.name, 'spent', '0')
        redis.call('HSETNX', b.name, 'asked', now)
        keepBudget(b, c.key)
      end
    end
    -- A budget of 0 refuses what costs nothing too.
    local isClosed = c.kind == 2 and c.limit == 0
    if failed == 0 and (isClosed or c.used + c.amount > c.limit) then failed = at end
  end
  return failed, unseeded
end
local function add(id, lease, list)
  local parts = {}
  for at, c in ipairs(list) do
    if c.kind == 0 then
      windowAdd(c.window, c.amount)
      parts[at] = int(c.window.present) .. ':' .. int(c.amount)
    elseif c.kind == 1 then
      slotHold(c.key, c.used, id, lease)
      parts[at] = '-'
    else
      hold(c.budget, c.key, id, c.amount, lease)
      parts[at] = int(c.amount)
    end
    c.used = c.used + c.amount
  end
  redis.call('SET', prefix .. 'r:' .. id, table.concat(parts, ' '), 'PX', lease)
end
local function take(id, lease, list)
  local r = redis.call('GET', prefix .. 'r:' .. id)
  if r == 'x' then return 's' end
  local failed, unseeded = look(list)
  if not r and #unseeded > 0 then return 'u ' .. table.concat(unseeded, ' ') end
  local isGranted = r or failed == 0
  if isGranted and not r then add(id, lease, list) end
  local out, wait = {}, 0
  for _, c in ipairs(list) do
    local reset = -1
    if c.kind == 0 then
      local w = c.window
      reset = 0
      if w.used > 0 then reset = math.max(0, math.ceil(w.newest * c.ms / (PARTS - 1) - now)) end
      if not isGranted and c.amount <= c.limit then wait = math.max(wait, waitFor(w, c.amount, c.limit)) end
    end
    out[#out + 1] = int(math.max(0, c.limit - c.used)) .. ' ' .. int(reset)
  end
  if isGranted then return 'g ' .. table.concat(out, ' ') end
  local c = list[failed]
  local neverFits = c.amount > c.limit
  if neverFits or c.kind ~= 0 then wait = -1 end
  return 'r ' .. int(failed - 1) .. (neverFits and ' 1 ' or ' 0 ') .. int(wait) .. ' ' .. table.concat(out, ' ')
end
`;

/**
 * A settlement that was kept says how long its row has been in the ledger: a budget that was read
 * later has its cost, and one that is read now will have it.
 */
const SETTLE = `
local function settleBudget(id, c, taken, storedMs)
  local b = budget(c.key)
  local booked = letGo(b, c.key, id, tonumber(taken or ''))
  local cost = c.amount
  if storedMs >= 0 and not b.stale then
    local from = b.seeded and b.from or tonumber(redis.call('HGET', b.name, 'asked') or '0')
    if now - storedMs < from then cost = 0 end
  end
  -- A budget that is not kept is seeded from the ledger, which has this cost.
  if not b.isKnown then
    if b.exists then redis.call('HSET', b.name, 'reserved', b.reserved) end
    return
  end
  b.spent = b.spent + cost - booked
  redis.call('HSET', b.name, 'spent', b.spent, 'reserved', b.reserved, 'settled', now)
  keepBudget(b, c.key)
end
local function settle(id, storedMs, list)
  local name = prefix .. 'r:' .. id
  local r = redis.call('GET', name)
  if r == 'x' then return '-' end
  redis.call('SET', name, 'x', 'PX', SETTLED_MS)
  local taken = takenOf(r)
  for at, c in ipairs(list) do
    if c.kind == 0 then
      local part, amount = string.match(taken[at] or '', '^(%d+):(%d+)$')
      local difference = part and c.amount - tonumber(amount) or 0
      if difference > 0 then windowAdd(window(c.key, c.ms), difference)
      elseif difference < 0 then windowGive(window(c.key, c.ms), tonumber(part), -difference) end
    elseif c.kind == 1 then redis.call('ZREM', prefix .. 'c:' .. c.key, id)
    else settleBudget(id, c, taken[at], storedMs) end
  end
  return '-'
end
`;

/** Extends a lease, and puts back what was lost of the reservation. */
const RENEW = `
local function renew(id, lease, list)
  local name = prefix .. 'r:' .. id
  local r = redis.call('GET', name)
  if r == 'x' then return '-' end
  local parts = {}
  for at, c in ipairs(list) do
    parts[at] = '-'
    if c.kind == 1 then slotHold(c.key, slotsUsed(c.key), id, lease)
    elseif c.kind == 2 then
      parts[at] = int(c.amount)
      local b, e, member = budget(c.key), prefix .. 'e:' .. c.key, id .. '=' .. int(c.amount)
      if redis.call('ZADD', e, 'NX', now + lease, member) == 0 then
        redis.call('ZADD', e, now + lease, member)
        keepBudget(b, c.key)
      else
        local booked = letGo(b, c.key, id)
        if booked > 0 then
          b.spent = b.spent - booked
          redis.call('HSET', b.name, 'spent', b.spent)
        end
        hold(b, c.key, id, c.amount, lease)
      end
    end
  end
  if r then redis.call('PEXPIRE', name, lease)
  else redis.call('SET', name, table.concat(parts, ' '), 'PX', lease) end
  return '-'
end
`;

/** Gives back a reservation, as if it had not been taken: a later group has refused. */
const RELEASE = `
local function release(id, _, list)
  local name = prefix .. 'r:' .. id
  local r = redis.call('GET', name)
  if not r or r == 'x' then return '-' end
  redis.call('DEL', name)
  local taken = takenOf(r)
  for at, c in ipairs(list) do
    if c.kind == 0 then
      local part, amount = string.match(taken[at] or '', '^(%d+):(%d+)$')
      if part then windowGive(window(c.key, c.ms), tonumber(part), tonumber(amount)) end
    elseif c.kind == 1 then redis.call('ZREM', prefix .. 'c:' .. c.key, id)
    else
      local b = budget(c.key)
      b.spent = b.spent - letGo(b, c.key, id, tonumber(taken[at] or ''))
      redis.call('HSET', b.name, 'spent', b.spent, 'reserved', b.reserved)
    end
  end
  return '-'
end
`;

/**
 * ARGV[3] is a list of numbers. First which gateways may decide alone: the part that is missing,
 * the part of one, and when the last successor reported. Of each decision:
 * its operation, its lease (of a settlement the milliseconds for which its row has been stored, or
 * -1) and the number of its claims. Of each claim: kind, limit, amount, length of the window. After
 * it come the texts: of each decision its id, then the keys of its claims. A line of the result is
 * the answer to one decision.
 */
export const decide = script(
  WINDOWS,
  SLOTS,
  BUDGETS,
  RESERVATIONS,
  TAKE,
  SETTLE,
  RENEW,
  RELEASE,
  `
local OPERATIONS = { [0] = take, [1] = settle, [2] = renew, [3] = release }
local numbers, at, text, out = cjson.decode(ARGV[3]), 4, 4, {}
missingPart, absentPart, succeededAt = numbers[1], numbers[2], numbers[3]
while numbers[at] do
  local operation, lease, count, list = numbers[at], numbers[at + 1], numbers[at + 2], {}
  local id = ARGV[text]
  at, text = at + 3, text + 1
  for claim = 1, count do
    list[claim] = {
      key = ARGV[text], kind = numbers[at], limit = numbers[at + 1], amount = numbers[at + 2], ms = numbers[at + 3],
    }
    at, text = at + 4, text + 1
  end
  out[#out + 1] = OPERATIONS[operation](id, lease, list)
end
return table.concat(out, '\\n')
`,
);
