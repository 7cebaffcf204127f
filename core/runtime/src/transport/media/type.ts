/** Detects the type of bytes by their beginning: the server's content type is not reliable. */

/** The kinds of media that a request may name by URL. */
export type MediaKind = "image" | "document" | "video";

const GIF = /^GIF8[79]a/;
/** Brands of ISO media files (the ftyp box, ISO/IEC 14496-12 4.3). */
const HEIF = /^(?:heic|heix|hevc|mif1|msf1)/;
const QUICKTIME = "qt  ";

/**
 * The media type of bytes of this kind; `undefined` for all others. `declared` is the server's
 * content type, which texts need.
 */
export function mediaTypeOf(
  bytes: Uint8Array,
  kind: MediaKind,
  declared: string,
): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 32)).toString(
    "latin1",
  );
  switch (kind) {
    case "image":
      return imageType(head);
    case "video":
      return videoType(head, declared);
    case "document":
      if (head.startsWith("%PDF-")) return "application/pdf";
      return /^text\/(?:plain|csv|markdown|html|xml)$/.test(declared) && isText(bytes)
        ? declared
        : undefined;
    default:
      return kind satisfies never;
  }
}

function imageType(head: string): string | undefined {
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (GIF.test(head)) return "image/gif";
  if (head.startsWith("RIFF") && head.slice(8, 12) === "WEBP") return "image/webp";
  return head.slice(4, 8) === "ftyp" && HEIF.test(head.slice(8, 12)) ? "image/heic" : undefined;
}

function videoType(head: string, declared: string): string | undefined {
  if (head.startsWith("\x1a\x45\xdf\xa3"))
    return declared === "video/x-matroska" ? declared : "video/webm";
  if (head.slice(4, 8) !== "ftyp" || HEIF.test(head.slice(8, 12))) return undefined;
  return head.slice(8, 12) === QUICKTIME ? "video/quicktime" : "video/mp4";
}

function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
