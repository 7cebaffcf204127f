/**
 * The note of a call: what its row needs, made before the upstream is called, with what it may use
 * or an estimate of its prompt.
 */

import { promptParts } from "@sluice/runtime/openai";
import type { Attempt, AttemptWriter, JsonDocument, Usage } from "@sluice/contract";
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
  #document: JsonDocument | undefined;
  #promptTokens = 0;

  constructor(ledger: RequestLedger) {
    this.#ledger = ledger;
  }

  /**
   * Resolves once the note is written. Throws or rejects when it cannot be; the attempt is none of
   * the exchange's then. `undefined` for an exchange that leaves no row: one without an identity,
   * or that is settled.
   */
  write(exchange: LiveExchange, attempt: AttemptWriter): Promise<void> | undefined {
    if (exchange.identity === undefined || exchange.isSettled) return undefined;
    const call = notedCall(
      exchange,
      attempt,
      attempt.admission?.reserved ?? this.#promptOf(exchange, attempt),
    );
    return this.#ledger.note(call, () => exchange.withdraw(attempt));
  }

  /** Without a budget the prompt alone is billed. */
  #promptOf(exchange: LiveExchange, attempt: Attempt): Usage {
    const promptTokens = this.#promptTokensOf(exchange, attempt);
    return { promptTokens, completionTokens: 0, totalTokens: promptTokens };
  }

  #promptTokensOf({ operation, client, request }: LiveExchange, attempt: Attempt): number {
    if (request === undefined) return 0;
    if (operation === "passthrough") {
      return READING.has(client.method)
        ? 0
        : Math.ceil((request.raw?.length ?? 0) / BYTES_PER_TOKEN);
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
