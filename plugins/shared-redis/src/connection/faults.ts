/** Errors of a server, each with what to do. */

import { errorMessage } from "@sluice/contract";

/** Advice by the first word of an error reply (redis.io, "Redis serialization protocol"). */
const ADVICE: Readonly<Record<string, string>> = {
  WRONGPASS: "Redis refuses the user name or the password: correct them in the secret.",
  NOAUTH: "Redis requires a password: set `password`, or write it into the URL.",
  NOPERM:
    "The ACL of the Redis user forbids a command or a key: the README of shared-redis has the rules.",
  READONLY: "The server is a replica: point `url` at the master, or use `sentinels`.",
  LOADING: "Redis reads its data from disk. The gateway connects when it is done.",
  MASTERDOWN: "The replica has lost its master: point `url` at the master, or use `sentinels`.",
  MOVED: "The key is on another node of a cluster: point `url` at the node of the prefix's braces.",
  ASK: "The key moves to another node of a cluster. The gateway connects when it has moved.",
  CLUSTERDOWN: "The cluster does not serve all slots. Look at `redis-cli cluster info`.",
  OOM: "Redis has no memory left: raise maxmemory.",
};

/** The error with what to do about it, the server's own words first. */
export function explained(error: unknown): Error {
  const text = errorMessage(error);
  const advice = ADVICE[/^[A-Z]+\b/.exec(text)?.[0] ?? ""];
  if (advice === undefined || text.endsWith(advice))
    return error instanceof Error ? error : new Error(text);
  return new Error(`${text.replace(/\.?$/, ".")} ${advice}`, { cause: error });
}
