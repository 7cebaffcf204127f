/**
 * Reading configurations in a process that serves: in slices with its traffic, and no text is
 * parsed twice while it stays the same.
 */

import { GatewayError } from "@sluice/contract";
import type { KnownDocuments } from "../../config/files/document.ts";
import { fileOfName } from "../../config/files/file-names.ts";
import {
  openConfig,
  type OpenedConfig,
  openInPieces,
  type OpenOptions,
  resolveInPieces,
  type ResolvedConfig,
} from "../../config/load.ts";
import { inSlices } from "../../config/files/slices.ts";
import { openSettled } from "../../config/files/stable-read.ts";
import { heldSource, overlaidSource } from "../../config/files/source.ts";
import type { Definitions } from "../../registry/definitions.ts";
import type { FileTexts } from "../history/history.ts";

/** Reads the configuration of one place. */
export class ConfigReader {
  readonly #place: OpenOptions;
  readonly #definitions: Definitions;
  readonly #known: KnownDocuments = new Map();

  constructor(place: OpenOptions, definitions: Definitions) {
    this.#place = { ...place, known: this.#known };
    this.#definitions = definitions;
  }

  /** The files, once they no longer change. */
  files(signal: AbortSignal): Promise<OpenedConfig> {
    return openSettled(this.#place, signal);
  }

  /** Given texts, with the present values of their references. */
  held(texts: FileTexts): OpenedConfig {
    return openConfig({ ...this.#place, source: heldSource(texts) });
  }

  /** As `held`, in slices with the traffic. */
  heldInSlices(texts: FileTexts): Promise<OpenedConfig> {
    return inSlices(openInPieces({ ...this.#place, source: heldSource(texts) }));
  }

  /** The files, some of them replaced by texts, or removed by a null. Throws `invalid_field`. */
  overlaid(files: Readonly<Record<string, string | null>>): OpenedConfig {
    const texts = new Map(
      Object.entries(files).map(([name, text]) => [fileOfName(name, this.#place), text]),
    );
    const opened = openConfig({
      ...this.#place,
      source: overlaidSource(texts, this.#place.source),
    });
    for (const [path, text] of texts) {
      if (text === null || opened.documents.includes(path)) continue;
      const message = `The configuration has no file ${path}: name the gateway file, the prices or a file in the folder of pipelines.`;
      throw new GatewayError("invalid_field", message, { param: "files" });
    }
    return opened;
  }

  /** Parses texts that will be held. */
  async prepare(texts: FileTexts): Promise<void> {
    await this.heldInSlices(texts);
  }

  /** Checks what was read, and makes its snapshot. */
  resolve(opened: OpenedConfig): Promise<ResolvedConfig> {
    return inSlices(resolveInPieces(opened, this.#definitions.all));
  }
}
