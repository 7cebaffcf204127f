/** What a server says of itself when a connection begins. */

/** The facts of a server. */
export interface ServerFacts {
  /** Changes with each start of the server; a replica has its own. */
  readonly runId: string;
  readonly maxmemoryPolicy: string;
}

/**
 * Reads the reply to `INFO`. Throws `Error` for a replica, for a server that loads its data, and
 * for a reply without a run id.
 */
export function readServer(reply: unknown): ServerFacts {
  const text = String(reply);
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(text)?.[1];
  if (field("role") === "slave") throw new Error("READONLY The server is a replica.");
  if (field("loading") === "1") throw new Error("LOADING The server reads its data.");
  const runId = field("run_id");
  if (runId === undefined)
    throw new Error("The reply to INFO has no run_id: it is no Redis server.");
  return { runId, maxmemoryPolicy: field("maxmemory_policy") ?? "noeviction" };
}
