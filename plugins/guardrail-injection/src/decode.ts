/** Decodes encoded payloads, each once and within bounds. A payload that is not text is ignored. */

const MAX_PAYLOADS = 32;
const MAX_PAYLOAD = 16_384;
const BASE64 = /[A-Za-z0-9+/_-]{20,16384}={0,2}/g;
const HEXADECIMAL = /(?:[0-9a-f]{2}[ :]?){16,8192}/gi;
const ESCAPES = /(?:\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|%[0-9a-f]{2}){6,2048}/gi;

/** The texts that are hidden in encodings. */
export function decodedTexts(text: string): string[] {
  const found: string[] = [];
  const take = (decoded: string): void => {
    if (found.length < MAX_PAYLOADS && isText(decoded)) found.push(decoded);
  };
  let tried = 0;
  const each = (pattern: RegExp, decode: (payload: string) => string): void => {
    for (const [payload] of text.matchAll(pattern)) {
      if (++tried > 4 * MAX_PAYLOADS) return;
      take(decode(payload.slice(0, MAX_PAYLOAD)));
    }
  };
  each(HEXADECIMAL, (payload) => Buffer.from(payload.replace(/[ :]/g, ""), "hex").toString("utf8"));
  each(BASE64, (payload) => Buffer.from(payload, "base64").toString("utf8"));
  each(ESCAPES, unescape);
  return found;
}

/** Every letter moved on by thirteen. */
export function rot13(text: string): string {
  return text.replace(/[a-z]/g, (letter) =>
    String.fromCharCode(((letter.charCodeAt(0) - 97 + 13) % 26) + 97),
  );
}

/** Whether nearly everything is letters, blanks and signs: what is decoded by mistake is not. */
function isText(decoded: string): boolean {
  if (decoded.length < 8) return false;
  const odd = decoded.match(/[^\p{L}\p{M}\p{N}\p{P}\p{S}\s]|\ufffd/gu)?.length ?? 0;
  return odd * 20 <= decoded.length;
}

function unescape(payload: string): string {
  const bytes = payload.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"),
  );
  return bytes.replace(
    /\\u([0-9a-f]{4})|\\x([0-9a-f]{2})/gi,
    (_whole, four: string | undefined, two: string | undefined) =>
      String.fromCharCode(Number.parseInt(four ?? two ?? "20", 16)),
  );
}
