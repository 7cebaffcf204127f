/** Rollouts of the configuration in the store: pushes, and returns to an earlier one. */

import {
  GatewayError,
  type RolloutRecord,
  type RolloutStore,
  servingRollout,
} from "@sluice/contract";
import type { Finding } from "../config/finding.ts";
import {
  EMPTY_FILES,
  EMPTY_GENERATION,
  GATEWAY_NAME,
  type NamedFiles,
  type StoredFiles,
} from "../config/files/stored/stored-files.ts";
import type { Snapshot } from "../config/snapshot.ts";
import { type Effect, formatEffect } from "../generation/diff/effects/effect.ts";
import type { ApplyResult } from "../generation/rollout/apply.ts";
import type { CanaryPlan } from "../generation/rollout/canary/canary.ts";
import type { ConfigEdits } from "../generation/rollout/edits.ts";
import type { GenerationManager } from "../generation/manager.ts";
import type { RolloutFault } from "../generation/rollout/rollout-monitor.ts";
import { answered, conflict, type Draft, type Rollouts } from "./begin.ts";
import { storedPlan } from "./canary/plan.ts";

/** What pushes need. */
export interface PushParts {
  readonly rollouts: Rollouts;
  readonly store: Pick<RolloutStore, "files" | "list">;
  readonly stored: StoredFiles;
  readonly edits: Pick<ConfigEdits, "reviewStored">;
  readonly manager: Pick<GenerationManager, "status" | "refuse">;
  /** What an edit widens or narrows, the worst first. */
  readonly effectsOf: (from: Snapshot, to: Snapshot) => readonly Effect[];
  /** Findings of the tests of contents that are not applied yet. */
  readonly test: (snapshot: Snapshot) => Promise<readonly Finding[]>;
}

/** A push. */
export interface Push {
  readonly files: NamedFiles;
  /** The generation that the files were made from. Absent: what serves now. */
  readonly base: number | undefined;
  readonly force: string | undefined;
  readonly author: string | undefined;
  readonly canary: CanaryPlan | undefined;
  /** It is checked and tested, and nothing begins. */
  readonly isDry: boolean;
}

/** A push of some files: the others are those of the generation that it was made from. */
export type StoredChange = Omit<Push, "files" | "isDry">;

/** The result at this instance. */
export interface PushResult {
  readonly result: Omit<ApplyResult, "outcome"> & {
    readonly outcome: ApplyResult["outcome"] | "applicable";
  };
  /** The rollout that the others follow, and the generation that it makes. */
  readonly rollout: number | undefined;
  readonly effects: readonly Effect[];
}

/** The files of a generation. */
export interface StoredFilesOf {
  readonly generation: number;
  /** `null`: nothing was pushed yet. */
  readonly contents: string | null;
  readonly files: NamedFiles;
}

/** Whether a file can have this name: below the folder of the gateway file, or of its parent. */
export function isPushedName(name: string): boolean {
  const [first, ...others] = name.split("/");
  const parts = first === ".." ? others : [first ?? "", ...others];
  return parts.every((part) => /^\w[\w.-]*$/.test(part)) && /\.ya?ml$/.test(name);
}

/** Effects that a rollout keeps: the worst ones. */
const KEPT_EFFECTS = 50;
/** Rollouts that a return looks through. */
const LISTED = 100;
/** How long instances that were away are expected to follow, for `ends_at`. */
const FOLLOW_MS = 120_000;

/** Changes of the configuration in the store. */
export class StoredConfig {
  readonly #parts: PushParts;

  constructor(parts: PushParts) {
    this.#parts = parts;
  }

  /**
   * Checks and tests files, and rolls them out. Throws `invalid_field` without a gateway file,
   * `config_conflict` when another push came first, and `overloaded` while the store does not
   * answer.
   */
  async push(asked: Push): Promise<PushResult> {
    const { rollouts, stored, edits, manager, effectsOf, test } = this.#parts;
    const { record } = await rollouts.newest();
    const serving = servingRollout(record) ?? EMPTY_GENERATION;
    await this.#checkBase(asked.base, serving);
    if (asked.files[GATEWAY_NAME] === undefined) throw noGateway();
    const texts = stored.placed(asked.files);
    const { findings, snapshot, digest, contents } = edits.reviewStored(texts, asked.force);
    const live = manager.status.live?.snapshot;
    const effects = snapshot && live ? effectsOf(live, snapshot) : [];
    const tested = findings.length > 0 || snapshot === undefined ? [] : await test(snapshot);
    const all = [...findings, ...tested];
    const common = { atMs: Date.now(), digest, contents, findings: all };
    if (all.length > 0 || snapshot === undefined) {
      const refused = { ...common, outcome: "refused", generation: undefined } as const;
      const result = asked.isDry ? refused : manager.refuse(all, contents);
      return { result, rollout: undefined, effects };
    }
    const isSame = stored.generation === serving && live?.contents === contents;
    if (isSame || asked.isDry) {
      const outcome = isSame ? "unchanged" : "applicable";
      return { result: { ...common, outcome, generation: serving }, rollout: undefined, effects };
    }
    const draft = draftOf(asked, contents, effects, serving);
    return { ...(await this.#begin(draft, record, common)), effects };
  }

  /** The generation whose files this process has. */
  get generation(): number {
    return this.#parts.stored.generation;
  }

  /**
   * Pushes the files that serve with some changes: texts by their names, `null` removes a file.
   * Throws as `push` does.
   */
  async edit(
    changes: ReadonlyMap<string, string | null>,
    { base, ...asked }: StoredChange,
  ): Promise<PushResult> {
    const { generation, files } = await this.files();
    await this.#checkBase(base, generation);
    const kept = Object.entries(files).filter(([name]) => !changes.has(name));
    const given = [...changes].filter((entry): entry is [string, string] => entry[1] !== null);
    const after = Object.fromEntries([...kept, ...given]);
    return this.push({ ...asked, base: generation, files: after, isDry: false });
  }

  /**
   * Rolls out the contents of an earlier rollout again; without a number those of the newest before
   * what serves that differ from it. `fault`: why the gateway does so by itself, and for which
   * generation alone. Throws `not_found`, and as `push` does.
   */
  async rollback(
    id: number | undefined,
    author: string | undefined,
    fault?: Pick<RolloutFault, "generation" | "reason">,
  ): Promise<PushResult> {
    const { rollouts, store, edits, stored, manager, effectsOf } = this.#parts;
    const { record } = await rollouts.newest();
    const serving = servingRollout(record) ?? EMPTY_GENERATION;
    if (fault !== undefined && fault.generation !== serving)
      throw conflict(`Generation ${serving} has taken the place of ${fault.generation}.`);
    const target = id === undefined ? await this.#before(serving) : await rollouts.find(id);
    const files = target && (await answered(store.files(target.id), "nothing has begun"));
    if (target === undefined || files === undefined) throw notKept(id);
    const review = edits.reviewStored(stored.placed(files), target.contents);
    const { findings, snapshot, digest, contents } = review;
    const live = manager.status.live?.snapshot;
    const effects = snapshot && live ? effectsOf(live, snapshot) : [];
    if (findings.length > 0)
      return { result: manager.refuse(findings, contents), rollout: undefined, effects };
    const common = { atMs: Date.now(), digest, contents, findings: [] };
    if (target.id === serving)
      return {
        result: { ...common, outcome: "unchanged", generation: serving },
        rollout: undefined,
        effects,
      };
    const asked = { files, author, canary: undefined, force: target.contents };
    const draft = draftOf(asked, target.contents, effects, serving);
    const reason = fault?.reason ?? null;
    const rolledBack = { ...draft, kind: "rollback", contentsOf: target.id, reason } as const;
    return { ...(await this.#begin(rolledBack, record, common)), effects };
  }

  /**
   * The files of a generation; without a number those that serve. Throws `not_found`, and
   * `overloaded` while the store does not answer.
   */
  async files(id?: number): Promise<StoredFilesOf> {
    const { rollouts, store } = this.#parts;
    const asked = id ?? servingRollout((await rollouts.newest()).record);
    if (asked === undefined)
      return { generation: EMPTY_GENERATION, contents: null, files: EMPTY_FILES };
    const record = await rollouts.find(asked);
    const files = record && (await answered(store.files(asked), "its files are not known"));
    if (record === undefined || files === undefined) throw notKept(asked);
    return { generation: asked, contents: record.contents, files };
  }

  /** The first generation is that of no push. */
  async #begin(
    draft: Draft,
    newest: RolloutRecord | undefined,
    common: Omit<ApplyResult, "outcome" | "generation">,
  ): Promise<Pick<PushResult, "result" | "rollout">> {
    const { rollouts, manager } = this.#parts;
    const rollout = await rollouts.begin(draft, newest?.id ?? EMPTY_GENERATION);
    if (draft.plan !== null)
      return { result: await rollouts.canaryResult(rollout, common), rollout };
    const { live, lastAttempt } = manager.status;
    const isApplied = live?.number === rollout;
    const applied = { ...common, outcome: "applied", generation: rollout } as const;
    return { result: isApplied ? applied : (lastAttempt ?? applied), rollout };
  }

  async #checkBase(base: number | undefined, serving: number): Promise<void> {
    if (base === undefined || base === serving) return;
    const record = await this.#parts.rollouts.find(serving);
    const by = record?.author == null ? "" : ` by ${record.author}`;
    throw conflict(
      `These files were made from generation ${base}, and generation ${serving}${by} serves: pull it, repeat the edit on it, and push again.`,
    );
  }

  /** The newest rollout before what serves that served all keys, with other contents. */
  async #before(serving: number): Promise<RolloutRecord | undefined> {
    const { store, rollouts } = this.#parts;
    const now = await rollouts.find(serving);
    const list = await answered(store.list("store", LISTED), "nothing has begun");
    return list.find(
      ({ id, stage, contents }) =>
        id < serving && stage !== "returned" && stage !== "canary" && contents !== now?.contents,
    );
  }
}

function draftOf(
  asked: Pick<Push, "files" | "author" | "canary" | "force">,
  contents: string,
  effects: readonly Effect[],
  base: number,
): Draft {
  const { files, author = null, canary, force } = asked;
  return {
    kind: "push",
    contents,
    files,
    contentsOf: null,
    base: base === EMPTY_GENERATION ? null : base,
    plan: canary === undefined ? null : storedPlan(canary),
    isForced: force !== undefined,
    author,
    reason: null,
    effects: effects.slice(0, KEPT_EFFECTS).map(formatEffect),
    endsAfterMs: canary?.forMs ?? FOLLOW_MS,
  };
}

function noGateway(): GatewayError {
  const message = `The files have no ${GATEWAY_NAME}: it names the models and providers.`;
  return new GatewayError("invalid_field", message, { param: "files" });
}

function notKept(id: number | undefined): GatewayError {
  const message =
    id === undefined
      ? "The store has no configuration before the one that serves."
      : `The store does not keep generation ${id}. sluice history lists those that it keeps.`;
  return new GatewayError("not_found", message, { param: "generation" });
}
