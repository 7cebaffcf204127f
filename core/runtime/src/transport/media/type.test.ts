import { expect, it } from "vitest";
import { type MediaKind, mediaTypeOf } from "./type.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text, "latin1");

it.each<[MediaKind, string, string, string | undefined]>([
  ["image", "\x89PNG\r\n\x1a\n", "text/plain", "image/png"],
  ["image", "\xff\xd8\xff\xe0", "", "image/jpeg"],
  ["image", "GIF89a", "", "image/gif"],
  ["image", "RIFF\0\0\0\0WEBPVP8 ", "", "image/webp"],
  ["image", "\0\0\0\x18ftypheic", "", "image/heic"],
  ["image", "RIFF\0\0\0\0WAVE", "image/png", undefined],
  ["image", "\0\0\0\x18ftypisom", "image/png", undefined],
  ["image", "%PDF-1.7", "image/png", undefined],
  ["document", "%PDF-1.7", "", "application/pdf"],
  ["document", "a,b", "text/csv", "text/csv"],
  ["document", "a,b", "", undefined],
  ["document", "a\0b", "text/plain", undefined],
  ["document", "\xff\xfe", "text/plain", undefined],
  ["document", "<svg/>", "image/svg+xml", undefined],
  ["video", "\0\0\0\x18ftypisom", "", "video/mp4"],
  ["video", "\0\0\0\x14ftypqt  ", "", "video/quicktime"],
  ["video", "\x1a\x45\xdf\xa3", "", "video/webm"],
  ["video", "\x1a\x45\xdf\xa3", "video/x-matroska", "video/x-matroska"],
  ["video", "\0\0\0\x18ftypheic", "video/mp4", undefined],
  ["video", "<html>", "video/mp4", undefined],
])("for %s, %j (%s) is %s", (kind, text, declared, type) => {
  expect(mediaTypeOf(bytes(text), kind, declared)).toBe(type);
});
