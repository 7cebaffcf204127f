/** The fleet as one process knows it: its membership, the rollouts, and the commands. */

import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import type { Clock, Log, RolloutRecord, RolloutReport, Store } from "@sluice/contract";
import type { NamedFiles, StoredFiles } from "../config/files/stored/stored-files.ts";
import type { Finding } from "../config/finding.ts";
import type { Snapshot } from "../config/snapshot.ts";
import type { GenerationManager } from "../generation/manager.ts";
import type { ApplyResult } from "../generation/rollout/apply.ts";
import type { ConfigEdits } from "../generation/rollout/edits.ts";
import { Rollouts } from "./begin.ts";
import { FleetCommands } from "./commands.ts";
import { writeCopy } from "./config-copy.ts";
import { ownFiles } from "./contents.ts";
import { type InstanceIdentity, instanceIdentity } from "./identity.ts";
import { Membership } from "./membership.ts";
import { type PushParts, StoredConfig } from "./push.ts";
import { RolloutMember } from "./rollout-member.ts";
import { StoreAnswers } from "./store-answers.ts";
import { storedContents } from "./stored-contents.ts";

/** What a fleet is made of. */
export interface FleetParts {
  readonly store: Pick<Store, "instances" | "rollouts">;
  readonly snapshot: Snapshot;
  /** The configuration of the store; `undefined` where it is in files. */
  readonly stored: StoredFiles | undefined;
  readonly manager: GenerationManager;
  readonly edits: ConfigEdits;
  /** The number of the worker; 0: the process is the whole gateway. */
  readonly worker: number;
  /** Finds the address of the admin listener where another process has it. */
  readonly findAdminUrl: () => string | undefined;
  /** Findings of the tests of contents that are not applied yet. */
  readonly test: (snapshot: Snapshot) => Promise<readonly Finding[]>;
  readonly effectsOf: PushParts["effectsOf"];
  readonly clock: Clock;
  readonly log: Log;
}

/** A rollout, and what the processes report about it. */
export interface NewestReports {
  readonly record: RolloutRecord;
  readonly reports: readonly RolloutReport[];
}

/** The fleet of a process. Without a store that keeps one it is this process alone. */
export interface Fleet {
  readonly membership: Membership;
  /** Absent: an edit is for this gateway alone. */
  readonly rollouts: Rollouts | undefined;
  /** Present where the configuration is in files, and there are rollouts. */
  readonly commands: FleetCommands | undefined;
  /** Present where the configuration is in the store. */
  readonly config: StoredConfig | undefined;
  /** Whether the store has no configuration yet. */
  isEmpty(): boolean;
  /** The newest rollout; `undefined` without one, or while the store does not answer. */
  newest(): Promise<NewestReports | undefined>;
  /** Brings this process to the newest rollout now. Never rejects. */
  look(): Promise<void>;
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
  const { store, stored } = parts;
  const identity = instanceIdentity(parts.snapshot.server.dataDirectory);
  const membership = membershipOf(parts, identity);
  const { instances, rollouts } = store;
  const own = {
    membership,
    isEmpty: () => stored?.isEmpty === true,
    leave: () => membership.leave(),
  };
  if (instances === undefined || rollouts === undefined) return aloneWith(own);
  const { member, commands, config, begun } = rolloutsOf(parts, identity, membership, {
    instances,
    rollouts,
  });
  const answers = new StoreAnswers(parts.log, "the newest rollout of the fleet");
  const source = stored === undefined ? "files" : "store";
  return {
    ...own,
    rollouts: begun,
    commands,
    config,
    newest: async () => (await answers.ask(newestOf(rollouts, source)))?.[0],
    look: () => member.look(),
    forget: (id: string) => instances.leave(id),
    begin(adminUrl: string | undefined) {
      membership.begin(adminUrl);
      member.begin();
    },
    async close() {
      await member.close();
      await membership.close();
    },
  };
}

type Own = Pick<Fleet, "membership" | "isEmpty" | "leave">;

function aloneWith(own: Own): Fleet {
  const { membership } = own;
  return {
    ...own,
    rollouts: undefined,
    commands: undefined,
    config: undefined,
    newest: async () => undefined,
    look: async () => undefined,
    forget: async () => false,
    begin: (adminUrl) => membership.begin(adminUrl),
    close: () => membership.close(),
  };
}

function membershipOf(parts: FleetParts, identity: InstanceIdentity): Membership {
  const { store, snapshot, manager, worker, findAdminUrl, clock, log } = parts;
  const { workers, dataDirectory } = snapshot.server;
  const facts = {
    worker,
    workers,
    dataDirectory: resolve(dataDirectory),
    startedAtMs: clock.now(),
  };
  return new Membership({
    store: store.instances,
    facts: { ...identity, ...facts },
    findAdminUrl,
    status: () => manager.status,
    log,
  });
}

/** What follows rollouts here, and what begins them. */
function rolloutsOf(
  parts: FleetParts,
  identity: InstanceIdentity,
  membership: Membership,
  store: Required<FleetParts["store"]>,
) {
  const { stored, manager, edits, worker, test, effectsOf, snapshot, log } = parts;
  const { rollouts } = store;
  const keepCopy = async (id: number, contents: string, files: NamedFiles): Promise<void> =>
    writeCopy(snapshot.server.dataDirectory, { id, contents, files }).catch((error: unknown) =>
      log.warn("the copy of the configuration was not written", { error }),
    );
  const contents =
    stored === undefined ? ownFiles(edits) : storedContents({ rollouts, edits, stored, keepCopy });
  const member = new RolloutMember({
    ...store,
    contents,
    manager,
    identity,
    process: `${worker}-${randomBytes(6).toString("hex")}`,
    onOutcome: () => membership.changed(),
    log,
  });
  const { source } = contents;
  const begun = new Rollouts({ rollouts, source, member, manager, instance: identity.id });
  const shared = { rollouts: begun, edits, manager, test };
  if (stored === undefined)
    return { member, begun, commands: new FleetCommands(shared), config: undefined };
  const config = new StoredConfig({ ...shared, store: rollouts, stored, effectsOf });
  edits.onSaved = () => member.retry();
  edits.rollBackAll = async (fault) =>
    (await config.rollback(fault.previous, "auto_rollback", fault)).result as ApplyResult;
  return { member, begun, commands: undefined, config };
}

async function newestOf(
  rollouts: NonNullable<Store["rollouts"]>,
  source: RolloutRecord["source"],
): Promise<readonly NewestReports[]> {
  const { record } = await rollouts.newest(source);
  if (record === undefined) return [];
  return [{ record, reports: await rollouts.reports(source, record.id) }];
}
