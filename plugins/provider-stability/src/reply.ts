/**
 * Stability's images as the reference dialect's, and its errors
 * (platform.stability.ai/docs/api-reference).
 */

import {
  Failures,
  Images,
  invalidReply,
  Members,
  readFailure,
  readJsonBody,
  upstreamError,
} from "@sluice/kit/dialect";
import type {
  DecodedReply,
  ErrorReply,
  GatewayError,
  JsonObject,
  JsonValue,
  ProviderRequest,
} from "@sluice/contract";

/**
 * The reply of an image call: `{artifacts: [{base64, finishReason, seed}]}` of engines, `{image,
 * finish_reason, seed}` of the services. Images that were filtered are left out, for they are not
 * billed; when none is left, the content policy refused.
 */
export function decodeImages(body: Uint8Array, request: ProviderRequest): DecodedReply {
  const value = readJsonBody(body);
  const isEngine = Array.isArray(value.artifacts);
  const made = isEngine ? Members.objectsOf(value.artifacts).map(ofArtifact) : [ofService(value)];
  const images = made.filter(({ ended, image }) => ended === "SUCCESS" && image !== undefined);
  const [first] = made;
  if (images.length === 0) throw failed(first?.ended);
  // Engines return the requested size, services their own.
  const size = isEngine ? request.document.value.size : undefined;
  const data = images.map(({ image, seed }): JsonObject => ({
    b64_json: image ?? "",
    ...(seed === undefined ? {} : { seed }),
  }));
  return Images.reply(request, data, { size });
}

interface Made {
  readonly image: string | undefined;
  readonly ended: string | undefined;
  readonly seed: JsonValue | undefined;
}

function ofArtifact({ base64, finishReason, seed }: JsonObject): Made {
  return { image: Members.textIn(base64), ended: Members.textIn(finishReason), seed };
}

function ofService({ image, finish_reason: ended, seed }: JsonObject): Made {
  return { image: Members.textIn(image), ended: Members.textIn(ended), seed };
}

function failed(ended: string | undefined): GatewayError {
  if (ended === "CONTENT_FILTERED") {
    return upstreamError({
      failure: "content_policy",
      message: "The upstream's content filter refused the image.",
    });
  }
  if (ended === "ERROR")
    return upstreamError({ failure: "server", message: "The upstream failed to make the image." });
  return invalidReply("has no images");
}

/** The gateway's error of a reply whose status is not 2xx. */
export function readError(reply: ErrorReply): GatewayError {
  return readFailure(reply, (body, status) => {
    const faults = Array.isArray(body.errors)
      ? (body.errors as readonly JsonValue[]).map((fault) => Members.textIn(fault) ?? "")
      : [];
    const message =
      Members.textIn(body.message) ??
      Members.textIn(faults.filter((fault) => fault !== "").join("; "));
    // Refused content has a status and a name by service: 403 `content_moderation`, 400
    // `invalid_prompts` of engines.
    return {
      message,
      failure:
        status === 403 || status === 400 ? Failures.refusalOf(undefined, body.name) : undefined,
    };
  });
}
