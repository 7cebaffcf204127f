/**
 * The edits of a process, as the history keeps them: which generation they made, and the last
 * attempts.
 */

import type { Snapshot } from "../../config/snapshot.ts";
import type { ApplyResult } from "../rollout/apply.ts";
import type { EditSource } from "../rollout/candidate.ts";
import { AUTO_ROLLBACK, callerOf, type EntryOrigin, entryOf, type EntryParts } from "./entries.ts";
import { textsOf } from "./file-texts.ts";
import type { HistoryEntry } from "./history.ts";

/** What the history of edits needs. */
export interface EditHistoryParts extends EntryParts {
  /** The snapshot that serves all keys. */
  readonly live: () => Snapshot | undefined;
}

const MAX_ATTEMPTS = 20;

/** Writes the results of edits to the history. */
export class EditHistory {
  readonly attempts: ApplyResult[] = [];
  readonly #parts: EditHistoryParts;
  #entry: HistoryEntry | undefined;
  /** The snapshot of the last generation that was written. */
  #previous: Snapshot | undefined;

  constructor(parts: EditHistoryParts) {
    this.#parts = parts;
  }

  /** How the live generation came to be. */
  get entry(): HistoryEntry | undefined {
    return this.#entry;
  }

  /** Keeps an attempt that made no generation. */
  addAttempt(result: ApplyResult): ApplyResult {
    this.attempts.push(result);
    this.attempts.splice(0, this.attempts.length - MAX_ATTEMPTS);
    return result;
  }

  /** Keeps the result of an edit, and the generation that it made. */
  add(
    result: ApplyResult,
    { opened, origin, held, force, author, fault }: EditSource,
  ): ApplyResult {
    // The end of its canary has written it.
    if (result.outcome === "promoted") return result;
    this.addAttempt(result);
    if (
      result.outcome !== "applied" ||
      result.generation === undefined ||
      result.digest === undefined
    )
      return result;
    const { history } = this.#parts;
    const known = history.entries.find((entry) => entry.generation === result.generation);
    const snapshots = this.#moveOn();
    if (known !== undefined) {
      this.#entry = known;
      return result;
    }
    const by = fault === undefined ? callerOf(author) : AUTO_ROLLBACK;
    const { contentsOf, onDisk } = held ?? {};
    this.#entry = entryOf(result, opened, this.#parts, {
      origin,
      contentsOf,
      onDisk,
      force,
      author: by,
      ...snapshots,
    });
    history.add(this.#entry, textsOf(opened));
    return result;
  }

  /** Keeps the end of a canary: it is in the history from its end on, promoted or returned. */
  addCanary(result: ApplyResult, { opened, author }: EditSource): void {
    this.addAttempt(result);
    const isPromoted = result.outcome === "promoted";
    const snapshots = isPromoted ? this.#moveOn() : {};
    const entry = entryOf(result, opened, this.#parts, {
      origin: "canary",
      author: callerOf(author),
      ...snapshots,
    });
    if (isPromoted) this.#entry = entry;
    this.#parts.history.add(
      isPromoted ? entry : { ...entry, returned: result.reason ?? "" },
      textsOf(opened),
    );
  }

  /** The snapshots between which an entry stands. */
  #moveOn(): Pick<EntryOrigin, "from" | "to"> {
    const from = this.#previous;
    this.#previous = this.#parts.live();
    return { from, to: this.#previous };
  }
}
