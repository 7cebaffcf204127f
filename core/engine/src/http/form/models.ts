/** The list of models in the form of a face. */

import type { ClientRequest, Face, FaceError, GatewayError, WholeReply } from "@sluice/contract";
import { writtenDocument } from "@sluice/kit/internals";
import { referenceForm } from "./reference.ts";
import type { ReplyForm, StreamForm } from "./reply-form.ts";

/** The form of one request for the list, or for one of its entries. */
export class ModelsForm implements ReplyForm {
  readonly heartbeat: string;
  readonly dropped: readonly string[] = [];
  readonly #face: Face;
  readonly #client: ClientRequest;
  readonly #requestId: string;

  constructor(face: Face, client: ClientRequest, requestId: string) {
    this.heartbeat = face.heartbeat;
    this.#face = face;
    this.#client = client;
    this.#requestId = requestId;
  }

  whole(reply: WholeReply): WholeReply {
    const { models } = this.#face;
    if (models === undefined) return reply;
    const { value } = reply.document;
    const body = value.object === "list" ? models.list(value, this.#client) : models.one(value);
    return { ...reply, document: writtenDocument(body) };
  }

  stream(): StreamForm {
    return referenceForm().stream(undefined);
  }

  error(error: GatewayError): FaceError {
    return this.#face.error(error, this.#requestId);
  }
}
