/**
 * Decodes escapes inside a text that is JSON itself, such as the arguments of a tool call, and
 * inside addresses. A JSON parser reads `\u0066` as f, so guardrails do too. Escapes that JSON
 * requires stay.
 */

/**
 * A JSON text with escapes of ordinary characters replaced by the characters. It parses to the same
 * value.
 */
export function plainEscapes(json: string): string {
  if (!json.includes("\\")) return json;
  return json.replace(ESCAPE, (escape, code: string | undefined) => {
    if (code === undefined) return escape === "\\/" ? "/" : escape;
    const unit = Number.parseInt(code, 16);
    return unit < 0x20 || unit === 0x22 || unit === 0x5c ? escape : String.fromCharCode(unit);
  });
}

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|[^u])/gs;
/**
 * An incomplete escape; the number of backslashes before it decides whether it is one. A match
 * begins at the first one of a run alone: the time is linear in the length of the run.
 */
const UNFINISHED = /(?<!\\)\\+(?:u[0-9a-fA-F]{0,3})?$/;

/** The same for a JSON text in pieces. */
export class EscapeReader {
  #carry = "";

  /** The plain text of the complete part. An incomplete escape waits for its rest. */
  push(piece: string): string {
    const text = this.#carry + piece;
    this.#carry = "";
    if (!text.includes("\\")) return text;
    const [tail] = UNFINISHED.exec(text) ?? [];
    if (tail === undefined) return plainEscapes(text);
    const slashes = tail.length - tail.replace(/^\\+/, "").length;
    // An even number means escaped backslashes; text follows them.
    if (slashes % 2 === 0) return plainEscapes(text);
    this.#carry = tail.slice(slashes - 1);
    return plainEscapes(text.slice(0, text.length - this.#carry.length));
  }
}

/** A text in the form that it has inside a JSON string. */
export function insideJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * A percent-decoded text. Each run of escapes is decoded separately, so that a malformed run does
 * not affect the others.
 */
export function plainPercents(text: string): string {
  if (!text.includes("%")) return text;
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (run) =>
    Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"),
  );
}
