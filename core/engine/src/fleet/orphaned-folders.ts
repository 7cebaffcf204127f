/**
 * The job of the leader for instances that were killed and do not come back: their outboxes may
 * have rows that the store does not have. Where the leader can open the data folder, it moves them.
 */

import type { InstanceStore, Log, StoreJob } from "@sluice/contract";
import { isFolderOf } from "./identity.ts";
import { type Instance, joinInstances } from "./join-instances.ts";

/** The parts of the job. */
export interface OrphanedFolderParts {
  readonly instances: InstanceStore | undefined;
  /** Whether a folder was last used with the store of this process. */
  readonly hasOwnStore: (directory: string) => boolean;
  /**
   * Moves the rows of a folder. Returns how many they were. Rejects while a process uses it, and
   * with the signal's reason.
   */
  readonly recover: (directory: string, signal: AbortSignal) => Promise<number>;
  readonly log: Log;
}

const EVERY_MS = 60_000;
const MAX_LISTED = 2_000;
/** The rest of a folder is moved at the next run. */
const FOLDER_MS = 60_000;

/** The job; none where the store keeps no instances. */
export function orphanedFolderJobs(parts: OrphanedFolderParts): readonly StoreJob[] {
  const { instances, log } = parts;
  if (instances === undefined) return [];
  /** Instances that were dealt with, by their last start. */
  let known: ReadonlySet<string> = new Set();
  return [
    {
      name: "outboxes",
      everyMs: EVERY_MS,
      async run({ signal }) {
        const { nowMs, records } = await instances.list(MAX_LISTED);
        const gone = joinInstances(records, nowMs, instances.reportEveryMs).filter(
          ({ state, dataDirectory }) => state === "gone" && dataDirectory !== null,
        );
        const nowKnown = new Set(gone.map(startOf).filter((start) => known.has(start)));
        known = nowKnown;
        let rows = 0;
        for (const instance of gone) {
          if (nowKnown.has(startOf(instance))) continue;
          signal.throwIfAborted();
          // oxlint-disable-next-line no-await-in-loop -- one folder after the other.
          const moved = await recover(instance, parts, signal);
          if (moved === "in use") continue;
          nowKnown.add(startOf(instance));
          if (moved !== "elsewhere") rows += moved;
          else
            log.warn(
              "an instance is gone, and its data folder is not on this machine: rows that it did not send wait there until it starts again, or for sluice ledger recover",
              { instance: instance.name, id: instance.id, data_directory: instance.dataDirectory },
            );
        }
        return rows === 0 ? undefined : `moved ${rows} spend rows of instances that are gone`;
      },
    },
  ];
}

function startOf({ id, startedAtMs }: Instance): string {
  return `${id} ${startedAtMs}`;
}

/**
 * Moves the rows of an instance. Returns how many, or why none: the folder is on another machine,
 * or a process uses it that does not reach the store.
 */
async function recover(
  instance: Instance,
  { hasOwnStore, recover: move, log }: OrphanedFolderParts,
  signal: AbortSignal,
): Promise<number | "elsewhere" | "in use"> {
  const { dataDirectory } = instance;
  if (dataDirectory === null || !isFolderOf(instance, dataDirectory)) return "elsewhere";
  if (!hasOwnStore(dataDirectory)) return "elsewhere";
  try {
    return await move(dataDirectory, AbortSignal.any([signal, AbortSignal.timeout(FOLDER_MS)]));
  } catch (error) {
    signal.throwIfAborted();
    log.debug("the outboxes of an instance that is gone stay as they are", {
      instance: instance.name,
      error,
    });
    return "in use";
  }
}
