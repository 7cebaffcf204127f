/**
 * Reads the size of an image in a data URL from its header: PNG, GIF, WebP, JPEG. The rest is not
 * decoded.
 */

/** Width and height in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** A JPEG's size stands after its metadata; the search ends here. A multiple of four characters. */
const MAX_HEADER_CHARACTERS = 131_072;

/** The size of the image in a data URL; `undefined` for any other URL and for an unknown format. */
export function imageSizeOf(url: string): ImageSize | undefined {
  const comma = url.indexOf(",");
  if (
    !url.startsWith("data:image/") ||
    comma < 0 ||
    comma > 256 ||
    !url.slice(0, comma).endsWith(";base64")
  )
    return undefined;
  const short = header(url, comma, 64);
  if (short.length < 12) return undefined;
  if (short.readUInt32BE(0) === 0x89504e47)
    return size(short, 24, () => [short.readUInt32BE(16), short.readUInt32BE(20)]);
  const name = short.toString("latin1", 0, 4);
  if (name === "GIF8") return size(short, 10, () => [short.readUInt16LE(6), short.readUInt16LE(8)]);
  if (name === "RIFF" && short.toString("latin1", 8, 12) === "WEBP") return webpSize(short);
  if (short.readUInt16BE(0) === 0xffd8) return jpegSize(header(url, comma, MAX_HEADER_CHARACTERS));
  return undefined;
}

function header(url: string, comma: number, characters: number): Buffer {
  return Buffer.from(url.slice(comma + 1, comma + 1 + characters), "base64");
}

function size(
  bytes: Buffer,
  least: number,
  read: () => [width: number, height: number],
): ImageSize | undefined {
  if (bytes.length < least) return undefined;
  const [width, height] = read();
  return width > 0 && height > 0 ? { width, height } : undefined;
}

/**
 * WebP has three kinds: lossy, lossless, extended
 * (developers.google.com/speed/webp/docs/riff_container).
 */
function webpSize(bytes: Buffer): ImageSize | undefined {
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      return size(bytes, 30, () => [
        bytes.readUInt16LE(26) & 0x3fff,
        bytes.readUInt16LE(28) & 0x3fff,
      ]);
    case "VP8L":
      return size(bytes, 25, () => {
        const bits = bytes.readUInt32LE(21);
        return [(bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1];
      });
    case "VP8X":
      return size(bytes, 30, () => [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1]);
    default:
      return undefined;
  }
}

/** Walks a JPEG's segments to its start of frame (ITU T.81 B.2.2). */
function jpegSize(bytes: Buffer): ImageSize | undefined {
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    const isFrame =
      marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    const place = at;
    if (isFrame)
      return size(bytes, at + 9, () => [
        bytes.readUInt16BE(place + 7),
        bytes.readUInt16BE(place + 5),
      ]);
    // A fill byte has no length; every other segment has one.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
