/**
 * Counters in Redis, as scripts see them. Names, all below one prefix:
 *
 * - `v:` a window: a hash of its parts, `ms` its length, `u` what is used at the part `p`, `n` the
 *   newest part with an amount;
 * - `c:` slots: a sorted set, reservation -> end of its lease;
 * - `b:` a budget: a hash of `spent`, `reserved`, `seeded` (the run id of the server that was
 *   seeded), `asked` (since when it waits for the ledger), `from` (since when the ledger that was
 *   read is complete), `floor` (what a copy of another server's memory says), `next` (no lease ends
 *   before), `kept` (until when it exists), `withheld` (what is left to gateways that are missing)
 *   and `withheldAt`, `settled` (when it changed last by a settlement), `before` (what was spent in
 *   the life of the server before this one) and `beforeAt`, `tried` (when the ledger was asked
 *   again);
 * - `e:` what is reserved of a budget: a sorted set, `reservation=amount` -> end of its lease;
 * - `h:` what was spent for reservations whose lease ended without a settlement: a hash.
 *
 * Earlier versions have `w:` for windows, and in `e:` reservations alone, with their amounts in
 * `h:`.
 */

/** Windows. They slide in sixtieths. What is used is summed up once for each part. */
export const WINDOWS = `
local PARTS = 61
local function sumUp(w)
  w.used, w.newest = 0, 0
  local all, past = redis.call('HGETALL', w.key), {}
  for at = 1, #all, 2 do
    local part = tonumber(all[at])
    if part then
      local value = tonumber(all[at + 1])
      if part <= w.present - PARTS then past[#past + 1] = all[at]
      elseif value > 0 then
        w.used = w.used + value
        if part > w.newest then w.newest = part end
      end
    end
  end
  if #past > 0 then redis.call('HDEL', w.key, unpack(past)) end
  redis.call('HSET', w.key, 'p', w.present, 'u', w.used, 'n', w.newest)
  redis.call('PEXPIRE', w.key, w.ms * 2)
end
local function window(key, ms)
  local w = { key = prefix .. 'v:' .. key, ms = ms, used = 0, newest = 0, part = 0, isNew = true }
  w.present = math.floor(now / (ms / (PARTS - 1))) + PARTS
  local v = redis.call('HMGET', w.key, 'ms', 'p', 'u', 'n', w.present)
  if not v[1] then return w end
  if tonumber(v[1]) ~= ms then
    redis.call('DEL', w.key)
    return w
  end
  w.isNew = false
  w.part = tonumber(v[5] or '0')
  if tonumber(v[2]) == w.present then w.used, w.newest = tonumber(v[3]), tonumber(v[4])
  else sumUp(w) end
  return w
end
local function windowAdd(w, amount)
  w.used, w.part = w.used + amount, w.part + amount
  if amount > 0 then w.newest = w.present end
  redis.call('HSET', w.key, 'ms', w.ms, 'p', w.present, 'u', w.used, 'n', w.newest,
    w.present, w.part)
  if w.isNew then redis.call('PEXPIRE', w.key, w.ms * 2) end
  w.isNew = false
end
local function windowGive(w, part, amount)
  if w.isNew or part <= w.present - PARTS then return end
  local there = tonumber(redis.call('HGET', w.key, part) or '0')
  local left = there - math.min(amount, there)
  w.used = w.used - (there - left)
  -- An empty part may have been the newest one: the next call sums up.
  redis.call('HSET', w.key, part, left, 'u', w.used, 'p', left == 0 and '0' or w.present)
end
local function waitFor(w, amount, limit)
  local surplus, parts = w.used + amount - limit, {}
  if surplus <= 0 then return 0 end
  local all = redis.call('HGETALL', w.key)
  for at = 1, #all, 2 do parts[all[at]] = tonumber(all[at + 1]) end
  for part = w.present - PARTS + 1, w.present do
    surplus = surplus - (parts[int(part)] or 0)
    if surplus <= 0 then return math.max(1, math.ceil(part * w.ms / (PARTS - 1) - now)) end
  end
  return w.ms
end
`;

/** Slots. */
export const SLOTS = `
local function slotsUsed(key)
  redis.call('ZREMRANGEBYSCORE', prefix .. 'c:' .. key, '-inf', now)
  return redis.call('ZCARD', prefix .. 'c:' .. key)
end
local function slotHold(key, used, id, lease)
  redis.call('ZADD', prefix .. 'c:' .. key, now + lease, id)
  if used == 0 then redis.call('PEXPIRE', prefix .. 'c:' .. key, lease * 2)
  else redis.call('PEXPIRE', prefix .. 'c:' .. key, lease * 2, 'GT') end
end
`;

/**
 * Budgets. A lease that ends without a settlement is that of a gateway that was killed or cut off:
 * its call may have been made, and its row may come late. Its whole amount is spent then; a
 * settlement that still comes corrects it.
 */
export const BUDGETS = `
local BUDGET_MS, SCAN_MS, MAX_ENDED = 86400000, 60000, 100
local function endLeases(b, key)
  local e, h = prefix .. 'e:' .. key, prefix .. 'h:' .. key
  local ended = redis.call('ZRANGEBYSCORE', e, '-inf', now, 'LIMIT', '0', MAX_ENDED)
  for _, member in ipairs(ended) do
    local id, amount = string.match(member, '^(.*)=(%d+)$')
    if not id then id, amount = member, redis.call('HGET', h, member) end
    redis.call('ZREM', e, member)
    if amount then
      b.reserved, b.spent = math.max(0, b.reserved - tonumber(amount)), b.spent + tonumber(amount)
      redis.call('HSET', h, id, amount)
    end
  end
  b.next = now + SCAN_MS
  if #ended == MAX_ENDED then b.next = now
  else
    local first = redis.call('ZRANGE', e, '0', '0', 'WITHSCORES')
    if first[2] then b.next = math.min(b.next, tonumber(first[2])) end
  end
  if #ended > 0 then redis.call('PEXPIRE', h, BUDGET_MS) end
  b.isEnded = #ended > 0
end
local function budget(key)
  local name = prefix .. 'b:' .. key
  local v = redis.call('HMGET', name, 'seeded', 'spent', 'reserved', 'next', 'kept', 'from', 'settled')
  local b = {
    name = name, seeded = v[1] == run, stale = v[1] and v[1] ~= run, exists = v[1] or v[2] or v[3],
    isKnown = v[1] or v[2], spent = tonumber(v[2] or '0'), reserved = tonumber(v[3] or '0'),
    next = tonumber(v[4] or '0'), kept = tonumber(v[5] or '0'), from = tonumber(v[6] or '0'),
    settled = tonumber(v[7] or '0'),
  }
  if b.exists and b.next <= now then
    endLeases(b, key)
    redis.call('HSET', name, 'spent', b.spent, 'reserved', b.reserved, 'next', b.next)
  end
  return b
end
local function keepBudget(b, key)
  if b.kept >= now + BUDGET_MS / 2 then return end
  b.kept = now + BUDGET_MS
  for _, kind in ipairs({ 'b:', 'e:', 'h:' }) do redis.call('PEXPIRE', prefix .. kind .. key, BUDGET_MS) end
  redis.call('HSET', b.name, 'kept', b.kept)
end
local function hold(b, key, id, amount, lease)
  local e = prefix .. 'e:' .. key
  redis.call('ZADD', e, int(now + lease), id .. '=' .. int(amount))
  if b.reserved == 0 then redis.call('PEXPIRE', e, BUDGET_MS) end
  b.reserved = b.reserved + amount
  b.next = (b.exists and b.next > 0) and math.min(b.next, now + lease) or now + math.min(lease, SCAN_MS)
  redis.call('HSET', b.name, 'reserved', b.reserved, 'next', b.next)
  keepBudget(b, key)
end
-- Frees what a reservation holds. Returns what was spent for it when its lease ended.
local function letGo(b, key, id, amount)
  if amount and redis.call('ZREM', prefix .. 'e:' .. key, id .. '=' .. int(amount)) == 1 then
    b.reserved = math.max(0, b.reserved - amount)
    return 0
  end
  local booked = redis.call('HGET', prefix .. 'h:' .. key, id)
  if not booked then return 0 end
  redis.call('HDEL', prefix .. 'h:' .. key, id)
  return tonumber(booked)
end
`;
