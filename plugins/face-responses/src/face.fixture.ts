/** The face as tests use it: requests in, replies and streams out. */

import type { Face, FaceContext, FaceRequest, JsonObject } from "@sluice/contract";
import { documentOf } from "@sluice/kit";
import responses from "./index.ts";

export const FACE: Face = responses.create({}, undefined as never);

export const CONTEXT: FaceContext = {
  requestId: "01234567-89ab-4cde-8f01-23456789abcd",
  model: "contract/model",
  startedAtMs: 1_767_225_600_000,
};

/** Reads a request. */
export function read(request: JsonObject): FaceRequest {
  return FACE.read(documentOf(JSON.stringify(request)), {
    method: "POST",
    path: "/v1/responses",
    query: "",
    parameters: {},
    header: () => undefined,
    address: null,
  });
}
