/**
 * What all scripts share: one decision each, run by Redis as one. Times are the server's, money and
 * counts are integers below 2^53.
 */

import { createHash } from "node:crypto";

/** A script and the digest by which Redis knows it. */
export interface Script {
  readonly source: string;
  readonly sha1: string;
}

/**
 * What every script begins with. ARGV has the prefix of all names, then the run id of the server.
 * Redis takes numbers as they are. As a part of a text they need `int`: Lua keeps fourteen digits.
 */
const PRELUDE = `
local prefix, run = ARGV[1], ARGV[2]
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function int(n)
  if n < 1e14 then return n .. '' end
  return string.format('%.0f', n)
end
`;

/** A script of these parts. */
export function script(...parts: readonly string[]): Script {
  const source = PRELUDE + parts.join("");
  return { source, sha1: createHash("sha1").update(source).digest("hex") };
}
