/** Requests of clients that speak `generateContent` themselves. */

import { isObject } from "@sluice/kit";
import { Members, refusalsOf } from "@sluice/kit/dialect";
import type { JsonDocument, JsonObject, ProviderRequest } from "@sluice/contract";
import { isThird } from "./models.ts";

/** The name of the API among the dialects of clients. */
export const DIALECT = "google";

/**
 * How the signatures begin in which a gateway packs what another provider needs back: base64 of
 * `sluice/1:`. No model of Google takes one.
 */
const PACKED = "c2x1aWNlLzE6";

/**
 * The client's own document for the upstream; `undefined` where the translation is sent: the client
 * speaks another dialect, or earlier turns are of another provider and lack signatures that the
 * model checks. The path names the model, and calls come whole. Refuses several candidates on a
 * stream.
 */
export function nativeBody(request: ProviderRequest, isVertex = false): JsonDocument | undefined {
  const { native, target, stream } = request;
  if (native === undefined) return undefined;
  const { document } = native;
  const { contents } = document.value;
  const turns = Members.objectsOf(contents);
  if (turns.some(isPacked) || (isThird(target.model) && !turns.every(isSigned))) return undefined;
  const { n } = request.document.value;
  if (stream && typeof n === "number" && n > 1)
    refusalsOf(request)("n", "more than one choice on a stream");
  return document.with({
    model: undefined,
    ...withoutPieces(document.value),
    ...(isVertex && turns.some(({ role }) => role === undefined) ? withRoles(turns) : {}),
  });
}

/** Vertex AI requires the role that the Gemini API takes for granted. */
function withRoles(turns: readonly JsonObject[]): JsonObject {
  return { contents: turns.map((turn) => ({ role: "user", ...turn })) };
}

function isPacked({ parts }: JsonObject): boolean {
  return Members.objectsOf(parts).some((part) => signatureOf(part)?.startsWith(PACKED) === true);
}

/** Whether the first call of a turn has the signature that the third generation checks. */
function isSigned({ parts }: JsonObject): boolean {
  const isCall = (part: JsonObject): boolean =>
    (part.functionCall ?? part.function_call) !== undefined;
  const call = Members.objectsOf(parts).find(isCall);
  return call === undefined || signatureOf(call) !== undefined;
}

function signatureOf({ thoughtSignature, thought_signature: other }: JsonObject) {
  return Members.textIn(thoughtSignature ?? other);
}

/** Arguments in pieces have no name, and the reply is read by its calls. */
function withoutPieces(body: JsonObject): JsonObject {
  for (const name of ["toolConfig", "tool_config"]) {
    const config = body[name];
    if (!isObject(config)) continue;
    for (const inner of ["functionCallingConfig", "function_calling_config"]) {
      const calling = config[inner];
      if (!isObject(calling)) continue;
      const {
        streamFunctionCallArguments: camel,
        stream_function_call_arguments: snake,
        ...rest
      } = calling;
      if (camel !== undefined || snake !== undefined)
        return { [name]: { ...config, [inner]: rest } };
    }
  }
  return {};
}
