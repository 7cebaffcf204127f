/**
 * The note of a call: what its row needs, made before the upstream is called, with what it may use
 * or an estimate of its prompt.
 */

import { promptParts } from "@sluice/runtime/openai";
import type { AttemptWriter, JsonDocument, Usage } from "@sluice/contract";
import { Stages } from "@sluice/kit";
import { nextTurn } from "@sluice/kit/internals";
import type { LiveExchange } from "../pipeline/exchange.ts";
import { notedCall } from "./rows.ts";
import type { RequestLedger } from "./ledger/ledger.ts";

const BYTES_PER_TOKEN = 4;

/** Methods that are never billed. */
const READING: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE"]);

/**
 * Writes the notes of one exchange. Its attempts mostly ask one and the same, whose tokens are
 * estimated once.
 */
export class CallNote {
  readonly #ledger: RequestLedger;
  /** The document that was counted last. */
  #document: JsonDocument | undefined;
  #promptTokens = 0;

  constructor(ledger: RequestLedger) {
    this.#ledger = ledger;
  }

  /**
   * Resolves once the note is written. Throws or rejects when it cannot be; the attempt is none of
   * the exchange's then. `undefined` for an exchange that leaves no row: one without an identity,
   * or that is settled. The prompt of a large request is counted in turns of the event loop first.
   */
  write(exchange: LiveExchange, attempt: AttemptWriter): Promise<void> | undefined {
    if (exchange.identity === undefined || exchange.isSettled) return undefined;
    const reserved = attempt.admission?.reserved;
    if (reserved !== undefined) return this.#note(exchange, attempt, reserved);
    const { operation, client, request } = exchange;
    if (request === undefined) return this.#note(exchange, attempt, promptOf(0));
    if (operation === "passthrough") {
      const bytes = READING.has(client.method) ? 0 : (request.raw?.length ?? 0);
      return this.#note(exchange, attempt, promptOf(Math.ceil(bytes / BYTES_PER_TOKEN)));
    }
    const { document = request.document } = attempt;
    if (document !== this.#document) {
      if (request.isLarge === true) return this.#noteLater(exchange, attempt, document);
      this.#count(document);
    }
    return this.#note(exchange, attempt, promptOf(this.#promptTokens));
  }

  #note(exchange: LiveExchange, attempt: AttemptWriter, usage: Usage): Promise<void> | undefined {
    const call = notedCall(exchange, attempt, usage);
    return this.#ledger.note(call, () => exchange.withdraw(attempt));
  }

  async #noteLater(
    exchange: LiveExchange,
    attempt: AttemptWriter,
    document: JsonDocument,
  ): Promise<void> {
    try {
      await nextTurn(exchange.ending);
      const { texts, overhead } = promptParts(document.value);
      const clock = new Stages.Clock();
      let bytes = 0;
      for (const text of texts) {
        bytes += Buffer.byteLength(text);
        if (clock.isOver()) await nextTurn(exchange.ending);
      }
      this.#keep(document, bytes, overhead);
      if (!exchange.isSettled) await this.#note(exchange, attempt, promptOf(this.#promptTokens));
    } catch (error) {
      exchange.withdraw(attempt);
      throw error;
    }
  }

  #count(document: JsonDocument): void {
    let bytes = 0;
    const { texts, overhead } = promptParts(document.value);
    for (const text of texts) bytes += Buffer.byteLength(text);
    this.#keep(document, bytes, overhead);
  }

  #keep(document: JsonDocument, bytes: number, overhead: number): void {
    this.#document = document;
    this.#promptTokens = Math.ceil(bytes / BYTES_PER_TOKEN) + overhead;
  }
}

/** Without a budget the prompt alone is billed. */
function promptOf(promptTokens: number): Usage {
  return { promptTokens, completionTokens: 0, totalTokens: promptTokens };
}
