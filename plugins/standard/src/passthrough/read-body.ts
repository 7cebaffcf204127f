/**
 * Whether the gateway has read a native body. An upstream may read what the gateway cannot: its
 * parser takes single quotes, `NaN`, another encoding or no regard of the content type.
 */

import { GatewayError, type GatewayRequest, type NativeEndpoint } from "@sluice/contract";

/** An object without members, which needs no reading. */
const EMPTY_OBJECT = /^\ufeff?\s*\{\s*\}\s*$/;
const MAX_EMPTY_BYTES = 64;
const FORM = /^multipart\/form-data\b/i;

/** Whether a content type is that of a form. */
export function isForm(contentType: string | undefined): boolean {
  return FORM.test(contentType?.trim() ?? "");
}

/**
 * Throws `invalid_json` for a body of a declared endpoint that the gateway could not read: the
 * models, objects and texts that it names would pass unseen. Endpoints of usage `reported` may take
 * forms, as those of files do, and other bodies where their provider finds the model.
 */
export function checkIsRead(
  request: GatewayRequest | undefined,
  { usage, model }: NativeEndpoint,
  contentType: string | undefined,
): void {
  const { raw, document } = request ?? {};
  if (raw === undefined || document === undefined || Object.keys(document.value).length > 0) return;
  if (usage === "reported" && (model !== "body" || isForm(contentType))) return;
  if (raw.length <= MAX_EMPTY_BYTES && EMPTY_OBJECT.test(Buffer.from(raw).toString("utf8"))) return;
  throw new GatewayError(
    "invalid_json",
    "The body of this endpoint must be a JSON object in UTF-8. Send it with content-type: application/json.",
  );
}
