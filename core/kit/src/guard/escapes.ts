/**
 * Escapes inside a text that is JSON itself: the arguments of a tool call; and inside addresses. `\u0066` is an f to whoever parses it, so it is one to
 * the guardrails. What JSON needs escaped stays as it is.
 */

/** A JSON text with the escapes of ordinary characters written as those characters. The same value when parsed. */
export function plainEscapes(json: string): string {
  if (!json.includes("\\")) return json;
  return json.replace(ESCAPE, (escape, code: string | undefined) => {
    if (code === undefined) return escape === "\\/" ? "/" : escape;
    const unit = Number.parseInt(code, 16);
    return unit < 0x20 || unit === 0x22 || unit === 0x5c ? escape : String.fromCharCode(unit);
  });
}

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|[^u])/gs;
/** An escape that is not complete; the number of backslashes before it tells whether it is one. */
const UNFINISHED = /\\+(?:u[0-9a-fA-F]{0,3})?$/;

/** The same for a JSON text in pieces. */
export class EscapeReader {
  #carry = "";

  /** The plain text of what is complete. An escape that is cut waits for its rest. */
  push(piece: string): string {
    const text = this.#carry + piece;
    this.#carry = "";
    if (!text.includes("\\")) return text;
    const [tail] = UNFINISHED.exec(text) ?? [];
    if (tail === undefined) return plainEscapes(text);
    const slashes = tail.length - tail.replace(/^\\+/, "").length;
    // An even number is escaped backslashes, and what follows them is text.
    if (slashes % 2 === 0) return plainEscapes(text);
    this.#carry = tail.slice(slashes - 1);
    return plainEscapes(text.slice(0, text.length - this.#carry.length));
  }
}

/** A text as it stands inside a JSON string. */
export function insideJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** A percent-encoded text as it is read: each run of escapes by itself, so that a malformed one leaves the others what they are. */
export function plainPercents(text: string): string {
  if (!text.includes("%")) return text;
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (run) => Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"));
}
