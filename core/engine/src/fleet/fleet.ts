/** The fleet as one process knows it: its membership, the rollouts, and the commands. */

import { randomBytes } from "node:crypto";
import type { Clock, Log, RolloutRecord, RolloutReport, Store } from "@sluice/contract";
import type { Finding } from "../config/finding.ts";
import type { Snapshot } from "../config/snapshot.ts";
import type { GenerationManager } from "../generation/manager.ts";
import type { ConfigEdits } from "../generation/rollout/edits.ts";
import { FleetCommands } from "./commands.ts";
import { ownFiles } from "./contents.ts";
import { instanceIdentity } from "./identity.ts";
import { Membership } from "./membership.ts";
import { RolloutMember } from "./rollout-member.ts";
import { StoreAnswers } from "./store-answers.ts";

/** What a fleet is made of. */
export interface FleetParts {
  readonly store: Pick<Store, "instances" | "rollouts">;
  readonly snapshot: Snapshot;
  readonly manager: GenerationManager;
  readonly edits: ConfigEdits;
  /** The number of the worker; 0: the process is the whole gateway. */
  readonly worker: number;
  /** Finds the address of the admin listener where another process has it. */
  readonly findAdminUrl: () => string | undefined;
  /** Findings of the tests of contents that are not applied yet. */
  readonly test: (snapshot: Snapshot) => Promise<readonly Finding[]>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The newest rollout, and what the processes report about it. */
export interface NewestReports {
  readonly record: RolloutRecord;
  readonly reports: readonly RolloutReport[];
}

/** The fleet of a process. Without a store that keeps one it is this process alone. */
export interface Fleet {
  readonly membership: Membership;
  /** Absent: an edit is for this gateway alone. */
  readonly commands: FleetCommands | undefined;
  /** The newest rollout; `undefined` without one, or while the store does not answer. */
  newest(): Promise<NewestReports | undefined>;
  /** Deletes the reports of an instance that is gone. Returns whether there were any. */
  forget(id: string): Promise<boolean>;
  /** Takes part from now on. `adminUrl`: the address of the own admin listener, if it is known. */
  begin(adminUrl: string | undefined): void;
  /** The process stops taking requests. */
  leave(): void;
  close(): Promise<void>;
}

/** Makes the parts. None of them does anything before `begin`. */
export function createFleet(parts: FleetParts): Fleet {
  const { store, snapshot, manager, edits, worker, clock, log } = parts;
  const { instances, rollouts } = store;
  const identity = instanceIdentity(snapshot.server.dataDirectory);
  const facts = { worker, workers: snapshot.server.workers, startedAtMs: clock.now() };
  const membership = new Membership({
    store: instances,
    facts: { ...identity, ...facts },
    findAdminUrl: parts.findAdminUrl,
    status: () => manager.status,
    log,
  });
  if (instances === undefined || rollouts === undefined)
    return {
      ...alone(membership),
      commands: undefined,
      newest: async () => undefined,
      forget: async () => false,
    };
  const contents = ownFiles(edits);
  const process = `${worker}-${randomBytes(6).toString("hex")}`;
  const shared = { rollouts, instances, contents, manager };
  const member = new RolloutMember({
    ...shared,
    identity,
    process,
    onOutcome: () => membership.changed(),
    log,
  });
  const { test } = parts;
  const commands = new FleetCommands({ ...shared, member, edits, instance: identity.id, test });
  const answers = new StoreAnswers(log, "the newest rollout of the fleet");
  const { begin, leave, close } = alone(membership);
  return {
    membership,
    commands,
    newest: () => answers.ask(newestOf(rollouts, contents.source)).then((found) => found?.[0]),
    forget: (id) => instances.leave(id),
    begin(adminUrl) {
      begin(adminUrl);
      member.begin();
    },
    leave,
    async close() {
      await member.close();
      await close();
    },
  };
}

function alone(membership: Membership): Pick<Fleet, "membership" | "begin" | "leave" | "close"> {
  return {
    membership,
    begin: (adminUrl) => membership.begin(adminUrl),
    leave: () => membership.leave(),
    close: () => membership.close(),
  };
}

async function newestOf(
  rollouts: NonNullable<Store["rollouts"]>,
  source: RolloutRecord["source"],
): Promise<readonly NewestReports[]> {
  const { record } = await rollouts.newest(source);
  if (record === undefined) return [];
  return [{ record, reports: await rollouts.reports(source, record.id) }];
}
