/**
 * Disguises of a denied text in a request: places and neighbours that make a gateway take it for
 * something that is not judged.
 */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { bodyTexts } from "@sluice/kit/guard";

/** A request that says a text to its upstream. */
export interface Disguise {
  readonly kind: string;
  readonly body: JsonObject;
}

const PREFIXES = [
  "data:image/png,",
  "data:audio/x,",
  "data:text/plain;base64,",
  "data:image/png;base64,",
];
/** Members that media have. */
const MEDIA: readonly JsonObject[] = [
  { data: "", format: "" },
  { data: "x", transcript: "hi" },
  { file_data: "data:image/png;base64,AAAA" },
  { source: { bytes: "AAAA" }, format: "png" },
  { media_type: "image/png", data: "AAAA" },
];
/** Members that usually hold a word of the protocol, or an identifier. */
const PROTOCOL = [
  "format",
  "signature",
  "background",
  "id",
  "status",
  "detail",
  "encrypted_content",
];

/** The disguises of a text. */
export function disguises(text: string): Disguise[] {
  const said = (content: JsonValue, more: JsonObject = {}): JsonObject => ({
    messages: [{ role: "user", content, ...more }],
  });
  const file = (url: string): JsonObject =>
    said([{ type: "file", file: { filename: "a.txt", file_data: url } }]);
  const base64 = Buffer.from(text).toString("base64");
  const escapes = Array.from(
    Buffer.from(text),
    (byte) => `%${byte.toString(16).padStart(2, "0")}`,
  ).join("");
  return [
    ...PREFIXES.flatMap((prefix) => [
      { kind: "media prefix", body: said(prefix + text) },
      { kind: "media prefix", body: said([{ type: "text", text: prefix + text }]) },
      {
        kind: "media prefix",
        body: said([{ type: "image_url", image_url: { url: prefix + text } }]),
      },
    ]),
    ...MEDIA.flatMap((members) => [
      { kind: "media members", body: said(text, members) },
      { kind: "media members", body: { messages: [{ ...members, content: text, role: "user" }] } },
      { kind: "media members", body: said([{ ...members, type: "text", text }]) },
      {
        kind: "media members",
        body: { contents: [{ role: "user", parts: [{ text, ...members }] }] },
      },
    ]),
    ...PROTOCOL.flatMap((name) => [
      { kind: "protocol member", body: { ...said("x"), [name]: text } },
      { kind: "protocol member", body: said("x", { [name]: text }) },
      { kind: "protocol member", body: { ...said("x"), [name]: { description: text } } },
    ]),
    { kind: "name of a member", body: { ...said("x"), metadata: { [text]: "x" } } },
    {
      kind: "name of a member",
      body: {
        tools: [
          { type: "function", function: { name: "f", parameters: { properties: { [text]: {} } } } },
        ],
      },
    },
    { kind: "name of a member", body: said("x", { [text]: 1 }) },
    { kind: "encoded file", body: file(`data:text/plain;base64,${base64}`) },
    { kind: "encoded file", body: file(`DATA:Text/Plain;charset=utf-8;BASE64,${base64}`) },
    { kind: "encoded file", body: file(`data:image/svg+xml;base64,${base64}`) },
    { kind: "malformed escape", body: file(`data:text/plain,%zz%20${escapes}%20%`) },
  ];
}

/**
 * The texts of a disguise as a gateway judges them; none, where it refuses the request because it
 * cannot read it.
 */
export function textsOf({ body }: Disguise): ReturnType<typeof bodyTexts>["texts"] | undefined {
  const { texts, opaque } = bodyTexts(body, "chat");
  return opaque.length > 0 ? undefined : texts;
}
