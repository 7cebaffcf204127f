/** What the doctor finds at a gateway that runs: the checks of `sluice doctor` that concern it. */

import { join } from "node:path";
import type { Snapshot } from "../config/snapshot.ts";
import type { Definitions } from "../registry/definitions.ts";
import type { Check } from "./check.ts";
import { checkDataFolder, checkMasterKey } from "./installation.ts";
import { checkMachine } from "./machine.ts";
import { checkConnections, checkProviders, checkState } from "./services.ts";
import { checkTls } from "./tls.ts";

/** What is looked at. */
export interface Examined {
  /** The configuration that serves. */
  readonly snapshot: Snapshot;
  readonly definitions: Definitions;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether providers are asked too, by a list of models or the like, which is free. */
  readonly isOnline: boolean;
}

/** Each check has a deadline of its own; the slowest ones run at the same time. */
export async function examineRunning({
  snapshot,
  definitions,
  environment,
  isOnline,
}: Examined): Promise<readonly Check[]> {
  const { server } = snapshot;
  const { dataDirectory } = server;
  const [machine, connections, state, providers] = await Promise.all([
    checkMachine([join(dataDirectory, "outbox.db"), dataDirectory]),
    checkConnections(snapshot, definitions, true),
    checkState(snapshot, definitions),
    checkProviders(snapshot, definitions, isOnline),
  ]);
  return [
    ...machine,
    ...checkDataFolder(dataDirectory),
    checkMasterKey(server, environment),
    ...checkTls(server.tls, Date.now()),
    ...connections,
    state,
    ...providers,
  ];
}
