/** Room for entries: the last part of the memory is for counters. */

/**
 * Entries take at most this part of the memory. A server that evicts nothing refuses every write
 * when it is full, those of limits and budgets too.
 */
const PART_OF_ENTRIES = 0.8;

/** A server that does not answer `INFO` in a script has room. */
export const ROOM = `
local function hasRoom()
  local memory = redis.pcall('INFO', 'memory')
  if type(memory) ~= 'string' then return true end
  local max = tonumber(string.match(memory, 'maxmemory:(%d+)') or '0')
  if max == 0 or not string.find(memory, 'maxmemory_policy:noeviction', 1, true) then return true end
  return tonumber(string.match(memory, 'used_memory:(%d+)') or '0') < max * ${PART_OF_ENTRIES}
end
`;
