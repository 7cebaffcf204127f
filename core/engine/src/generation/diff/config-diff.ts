/**
 * The meaning of edits: the effects between what runs, the files and older generations, and a
 * replay of traffic.
 */

import { GatewayError } from "@sluice/contract";
import { fileName } from "../../config/files/file-names.ts";
import { openConfig, type OpenOptions, resolveSnapshot } from "../../config/load.ts";
import type { Snapshot } from "../../config/snapshot.ts";
import type { Definitions } from "../../registry/definitions.ts";
import { filesOnDisk, snapshotOfTexts } from "../history/file-texts.ts";
import type { Effect } from "./effects/effect.ts";
import { effectsOf } from "./effects/effects.ts";
import type { FileTexts, GenerationHistory } from "../history/history.ts";
import type { GenerationManager } from "../manager.ts";
import { readRequestGroups, type ReplaySources } from "./ledger-requests.ts";
import { type Replay, replay } from "./replay.ts";

/**
 * A side of a comparison: the running configuration, the files on disk, or a generation of the
 * history.
 */
export type Side = "running" | "files" | number;

/** The parts of the process that a comparison needs. */
export interface ConfigDiffParts {
  readonly place: OpenOptions;
  readonly definitions: Definitions;
  readonly manager: GenerationManager;
  readonly history: GenerationHistory;
  /** Where a replay reads the newest requests. */
  readonly requests: ReplaySources;
}

/**
 * The effects of going from one side to the other, and what they do to the newest requests where
 * that was asked.
 */
export interface ChangeImpact {
  readonly effects: readonly Effect[];
  readonly replay: Replay | undefined;
}

/** Tells what edits mean. */
export class ConfigDiff {
  readonly #parts: ConfigDiffParts;

  constructor(parts: ConfigDiffParts) {
    this.#parts = parts;
  }

  /** The effects of applying a candidate. */
  async of(candidate: Snapshot, isReplayed: boolean): Promise<ChangeImpact> {
    const live = this.#parts.manager.live?.snapshot;
    return live === undefined
      ? { effects: [], replay: undefined }
      : this.#between(live, candidate, isReplayed);
  }

  /**
   * The effects of a change from one side to the other. Throws `not_found` for a generation that is
   * not kept, `invalid_field` for one with findings.
   */
  async compare(from: Side, to: Side, isReplayed: boolean): Promise<ChangeImpact> {
    return this.#between(this.#snapshotOf(from, "from"), this.#snapshotOf(to, "to"), isReplayed);
  }

  /**
   * The contents of a side's files by their names. Throws `not_found` for a generation that is not
   * kept.
   */
  filesOf(side: Side, param: string): Readonly<Record<string, string>> {
    const { place, manager } = this.#parts;
    if (side === "files") return filesOnDisk(place);
    const texts = this.#textsOf(side === "running" ? (manager.live?.number ?? 0) : side, param);
    return Object.fromEntries([...texts].map(([path, text]) => [fileName(path, place), text]));
  }

  #textsOf(generation: number, param: string): FileTexts {
    const { history } = this.#parts;
    const texts = history.textsOf(generation);
    if (texts !== undefined) return texts;
    const kept = history.entries.map((entry) => entry.generation).join(", ") || "none";
    throw new GatewayError(
      "not_found",
      `Generation ${generation} is not in the history, which holds ${kept}.`,
      { param },
    );
  }

  async #between(from: Snapshot, to: Snapshot, isReplayed: boolean): Promise<ChangeImpact> {
    const { definitions, requests } = this.#parts;
    return {
      effects: effectsOf(from, to, definitions.steps),
      replay: isReplayed ? replay(await readRequestGroups(requests), from, to) : undefined,
    };
  }

  #snapshotOf(side: Side, param: string): Snapshot {
    const { place, definitions, manager } = this.#parts;
    if (side === "running") {
      const live = manager.live?.snapshot;
      if (live === undefined)
        throw new GatewayError(
          "not_found",
          "No configuration is live yet. Compare generations of the history.",
          { param },
        );
      return live;
    }
    if (side === "files") {
      const { snapshot, findings } = resolveSnapshot(openConfig(place), definitions.all);
      if (snapshot !== undefined) return snapshot;
      const message = `The files have ${findings.length} findings. POST /config/validate and sluice check list them.`;
      throw new GatewayError("invalid_field", message, { param });
    }
    const snapshot = snapshotOfTexts(this.#textsOf(side, param), place, definitions);
    if (snapshot !== undefined) return snapshot;
    throw new GatewayError(
      "invalid_field",
      `Generation ${side} has findings with the present plugins and secrets.`,
      { param },
    );
  }
}
