/** Rollouts whose contents are in the store. */

import type { RolloutRecord, RolloutStore } from "@sluice/contract";
import type { NamedFiles, StoredFiles } from "../config/files/stored/stored-files.ts";
import type { ApplyResult } from "../generation/rollout/apply.ts";
import type { CanaryPlan } from "../generation/rollout/canary/canary.ts";
import type { ConfigEdits } from "../generation/rollout/edits.ts";
import type { RolloutContents } from "./contents.ts";

/** What contents of the store need. */
export interface StoredContentsParts {
  readonly rollouts: Pick<RolloutStore, "find" | "files">;
  readonly edits: Pick<ConfigEdits, "applyStored">;
  /** The configuration that serves all keys in this process. */
  readonly stored: StoredFiles;
  /** Keeps a copy for a start without the store. Never rejects. */
  readonly keepCopy: (id: number, contents: string, files: NamedFiles) => Promise<void>;
}

/** Contents that every instance reads from the store. */
export function storedContents(parts: StoredContentsParts): RolloutContents {
  const { rollouts, edits, stored, keepCopy } = parts;
  /** Contents that serve elsewhere and were refused here. */
  let refused: number | undefined;
  const serves = async ({ id, contents }: RolloutRecord, files: NamedFiles): Promise<void> => {
    stored.replace(id, stored.placed(files));
    await keepCopy(id, contents, files);
  };
  const apply = async (
    record: RolloutRecord,
    canary: CanaryPlan | undefined,
    isTested: boolean,
  ): Promise<ApplyResult | undefined> => {
    // A store that does not answer is asked again.
    const files = await rollouts.files(record.id).catch(() => undefined);
    if (files === undefined) return undefined;
    const { id, kind, contents, isForced, author } = record;
    const result = await edits.applyStored({
      texts: stored.placed(files),
      number: id,
      origin: kind === "rollback" ? "rollback" : "push",
      isTested,
      canary,
      force: isForced ? contents : undefined,
      author: author ?? undefined,
    });
    const { outcome } = result;
    if (outcome === "applied" || outcome === "unchanged" || outcome === "promoted")
      await serves(record, files);
    return result;
  };
  return {
    source: "store",
    take: (record, canary) => apply(record, canary, record.kind === "rollback"),
    isOf: ({ id }, { number }) => number === id,
    isOpen: () => true,
    async base({ base }, live) {
      if (base === null || live?.number === base || refused === base) return;
      const record = await rollouts.find("store", base).catch(() => undefined);
      if (record === undefined) return;
      // It serves all keys at other instances.
      const result = await apply({ ...record, isForced: true }, undefined, true);
      if (result?.outcome === "refused") refused = base;
    },
    async promoted(record) {
      const files = await rollouts.files(record.id).catch(() => undefined);
      if (files !== undefined) await serves(record, files);
    },
    retry: () => void (refused = undefined),
  };
}
