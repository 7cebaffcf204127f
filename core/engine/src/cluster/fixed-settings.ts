/** Settings that a restart of the workers cannot change, because the supervisor uses them. */

import type { Snapshot } from "../config/snapshot.ts";
import type { Definitions } from "../registry/definitions.ts";
import type { FixedSettings } from "./worker-messages.ts";

/** The settings of a configuration that the supervising process has to do with. */
export function fixedSettings(
  { server, shared }: Snapshot,
  definitions: Definitions,
): FixedSettings {
  const isRemote = definitions.states.get(shared.use)?.isRemote === true;
  return {
    "server.workers": String(server.workers),
    "server.host": server.host,
    "server.port": String(server.port),
    "server.admin": `${server.admin.host}:${server.admin.port}`,
    "server.data_directory": server.dataDirectory,
    // It holds what is in memory. A server elsewhere is between the workers and that server.
    shared: isRemote ? "elsewhere" : JSON.stringify([shared.use, shared.options]),
  };
}

/** Why a worker cannot start with these settings, for a person; `undefined` when it can. */
export function fixedFault(fixed: FixedSettings, own: FixedSettings): string | undefined {
  const names = Object.keys(own).filter((name) => own[name] !== fixed[name]);
  if (names.length === 0) return undefined;
  return `${names.join(" and ")} cannot change while the workers are replaced: stop the gateway and start it again, or undo the edit.`;
}
