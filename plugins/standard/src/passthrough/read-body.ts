/**
 * Whether the gateway has read a native body. An upstream may read what the gateway cannot: its
 * parser takes single quotes, `NaN` or another encoding, or ignores the content type.
 */

import { Native } from "@sluice/kit/passthrough";
import {
  GatewayError,
  type GatewayRequest,
  type HttpCall,
  type JsonObject,
  type NativeEndpoint,
  type PassthroughRequest,
} from "@sluice/contract";

/** An object without members, which needs no reading. */
const EMPTY_OBJECT = /^\ufeff?\s*\{\s*\}\s*$/;
const MAX_EMPTY_BYTES = 64;
const OPEN_BRACE = 0x7b;
/** White space, the bytes of a byte order mark, and the other half of a UTF-16 unit. */
const BEFORE: ReadonlySet<number> = new Set([
  0, 9, 10, 11, 12, 13, 32, 0xef, 0xbb, 0xbf, 0xfe, 0xff,
]);
/** A type under which every upstream reads JSON in UTF-8. */
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json(?:\s*;\s*charset="?utf-?8"?)?\s*$/i;
const FORM = /^multipart\/form-data\b/i;

/** Whether a content type is that of a form. */
export function isForm(contentType: string | undefined): boolean {
  return FORM.test(contentType?.trim() ?? "");
}

/**
 * The members by which a body names models and objects to the upstream: those of its JSON, or the
 * texts of a form where an endpoint takes one. An endpoint gets no fields of the gateway.
 */
export function namingMembers(
  native: PassthroughRequest,
  endpoint: NativeEndpoint | undefined,
  request: GatewayRequest | undefined,
): JsonObject {
  const body = request?.document.value ?? {};
  const isRead = endpoint?.model !== "body" || !isForm(native.headers["content-type"]);
  if (!isRead && Object.keys(body).length === 0) return Native.formTexts(native);
  const { cut } = request ?? {};
  if (cut === undefined || endpoint === undefined) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => !cut.includes(name)));
}

/**
 * Throws `invalid_json` for a body that the gateway could not read: the models, objects and texts
 * that it names would pass unseen. Endpoints of usage `reported` may take forms, as those of files
 * do, and other bodies where their provider finds the model. A path that is not declared may take
 * anything that does not begin as an object.
 */
export function checkIsRead(
  request: GatewayRequest | undefined,
  endpoint: NativeEndpoint | undefined,
  contentType: string | undefined,
): void {
  const { raw, document } = request ?? {};
  if (raw === undefined || document === undefined || Object.keys(document.value).length > 0) return;
  if (endpoint === undefined && !beginsObject(raw)) return;
  const { usage, model } = endpoint ?? {};
  if (usage === "reported" && (model !== "body" || isForm(contentType))) return;
  if (raw.length <= MAX_EMPTY_BYTES && EMPTY_OBJECT.test(Buffer.from(raw).toString("utf8"))) return;
  throw new GatewayError(
    "invalid_json",
    "The body of this endpoint must be a JSON object in UTF-8. Send it with content-type: application/json.",
  );
}

function beginsObject(bytes: Uint8Array): boolean {
  return bytes.find((byte) => !BEFORE.has(byte)) === OPEN_BRACE;
}

/**
 * The call of a body that was read as a JSON object, under a type of JSON: under another one, or in
 * another encoding, an upstream would read other members in the same bytes.
 */
export function asJson(call: HttpCall, body: JsonObject | undefined): HttpCall {
  const type = call.headers["content-type"];
  if (typeof type === "string" && JSON_TYPE.test(type)) return call;
  if (body === undefined || Object.keys(body).length === 0) return call;
  return { ...call, headers: { ...call.headers, "content-type": "application/json" } };
}
