/** The face as tests use it: requests in, replies and streams out. */

import type { ClientRequest, Face, FaceContext, FaceRequest, JsonObject } from "@sluice/contract";
import { documentOf } from "@sluice/kit";
import { FACE_CONTEXT, FACE_MEANS } from "@sluice/testing";
import responses from "./index.ts";

export const FACE: Face = responses.create({}, undefined as never);

export const CONTEXT: FaceContext = FACE_CONTEXT;

const CLIENT: ClientRequest = {
  method: "POST",
  path: "/v1/responses",
  query: "",
  parameters: {},
  header: () => undefined,
  address: null,
};

/** Reads a request. */
export function read(request: JsonObject): FaceRequest {
  return FACE.read(documentOf(JSON.stringify(request)), CLIENT, FACE_MEANS);
}
