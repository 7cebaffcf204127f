/** Reading configurations in a process that serves: in turns with its traffic, and no text is parsed twice while it stays the same. */

import type { KnownDocuments } from "../config/document.ts";
import {
  openConfig,
  type OpenedConfig,
  openInPieces,
  type OpenOptions,
  resolveInPieces,
  type ResolvedConfig,
} from "../config/load.ts";
import { inTurns } from "../config/pieces.ts";
import { openSettled } from "../config/settled.ts";
import { heldSource } from "../config/source.ts";
import type { Definitions } from "../registry/definitions.ts";
import type { FileTexts } from "./history.ts";

/** Reads the configuration of one place. */
export class ConfigReader {
  readonly #place: OpenOptions;
  readonly #definitions: Definitions;
  readonly #known: KnownDocuments = new Map();

  constructor(place: OpenOptions, definitions: Definitions) {
    this.#place = { ...place, known: this.#known };
    this.#definitions = definitions;
  }

  /** The files, once they stand still. */
  files(signal: AbortSignal): Promise<OpenedConfig> {
    return openSettled(this.#place, signal);
  }

  /** Texts that somebody holds, with the references' values of now. */
  held(texts: FileTexts): OpenedConfig {
    return openConfig({ ...this.#place, source: heldSource(texts) });
  }

  /** Parses texts that will be held. */
  async prepare(texts: FileTexts): Promise<void> {
    await inTurns(openInPieces({ ...this.#place, source: heldSource(texts) }));
  }

  /** Checks what was read, and makes its snapshot. */
  resolve(opened: OpenedConfig): Promise<ResolvedConfig> {
    return inTurns(resolveInPieces(opened, this.#definitions.all));
  }
}
