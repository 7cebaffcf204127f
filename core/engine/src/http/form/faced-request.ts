/** The request of a face's client, while it becomes one of the reference dialect. */

import type {
  ClientRequest,
  Face,
  FaceMeans,
  FaceRequest,
  GatewayRequest,
  JsonDocument,
  JsonObject,
} from "@sluice/contract";
import type { Stages } from "@sluice/kit";
import { writtenDocument } from "@sluice/kit/internals";
import { isGatewayOnly } from "@sluice/runtime/dialect";
import { nativeRequest } from "./native-request.ts";

/**
 * One document of a client. The gateway's own members stay at the top level: they are the same in
 * every dialect.
 */
export class FacedRequest {
  readonly #face: Face;
  readonly #client: ClientRequest;
  readonly #means: FaceMeans;
  /** The document without the gateway's own members. */
  readonly #bare: JsonDocument;
  /** Those members; `undefined` where there are none. */
  readonly #gateways: JsonObject | undefined;

  constructor(face: Face, document: JsonDocument, client: ClientRequest, means: FaceMeans) {
    this.#face = face;
    this.#client = client;
    this.#means = means;
    const { value } = document;
    const own = Object.keys(value).filter((name) => isGatewayOnly(name));
    if (own.length === 0) {
      this.#bare = document;
      this.#gateways = undefined;
    } else {
      this.#bare = document.with(Object.fromEntries(own.map((name) => [name, undefined])));
      this.#gateways = Object.fromEntries(own.map((name) => [name, value[name]]));
    }
  }

  /** What the face reads of it. */
  read(): FaceRequest {
    return this.#face.read(this.#bare, this.#client, this.#means);
  }

  /** The same of a large document. */
  *readInStages(): Stages.Of<FaceRequest> {
    const face = this.#face;
    if (face.readInStages === undefined) return this.read();
    return yield* face.readInStages(this.#bare, this.#client, this.#means);
  }

  /** The body in the reference dialect. */
  bodyOf({ body }: FaceRequest): JsonDocument {
    const gateways = this.#gateways;
    return writtenDocument(gateways === undefined ? body : { ...body, ...gateways });
  }

  /** The request with what the native lane sends. `isKept`: the reply is kept. */
  withNative(request: GatewayRequest, read: FaceRequest, isKept: boolean): GatewayRequest {
    const native = nativeRequest(this.#face, read, {
      document: this.#bare,
      translated: request.document,
      client: this.#client,
      isKept,
    });
    return { ...request, native };
  }
}
