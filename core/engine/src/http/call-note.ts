/** The note of a call: its row, made before the upstream is called, with an estimate of its prompt. */

import { promptParts } from "@sluice/kit/openai";
import type { Attempt, JsonDocument, SpendRow } from "@sluice/spec";
import type { LiveExchange } from "../pipeline/exchange.ts";
import { interruptedRow } from "../pipeline/rows.ts";

const BYTES_PER_TOKEN = 4;

/** Methods that ask for nothing that is billed. */
const READING: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE"]);

/** Writes the notes of one exchange. Its attempts mostly ask one and the same, whose tokens are estimated once. */
export class CallNote {
  readonly #write: (row: SpendRow) => void;
  #document: JsonDocument | undefined;
  #promptTokens = 0;

  constructor(write: (row: SpendRow) => void) {
    this.#write = write;
  }

  /** Throws when the note cannot be written. An exchange without an identity, or one that is settled, leaves no row. */
  write(exchange: LiveExchange, attempt: Attempt): void {
    if (exchange.identity === undefined || exchange.isSettled) return;
    this.#write(interruptedRow(exchange, attempt, this.#promptTokensOf(exchange, attempt)));
  }

  #promptTokensOf({ operation, client, request }: LiveExchange, attempt: Attempt): number {
    if (request === undefined) return 0;
    if (operation === "passthrough") {
      return READING.has(client.method) ? 0 : Math.ceil((request.raw?.length ?? 0) / BYTES_PER_TOKEN);
    }
    const { document = request.document } = attempt;
    if (document === this.#document) return this.#promptTokens;
    let bytes = 0;
    const { texts, overhead } = promptParts(document.value);
    for (const text of texts) bytes += Buffer.byteLength(text);
    this.#document = document;
    this.#promptTokens = Math.ceil(bytes / BYTES_PER_TOKEN) + overhead;
    return this.#promptTokens;
  }
}
