/** The form of requests for kept replies: the step answers in the client's form. */

import type { Face, FaceError, GatewayError, WholeReply } from "@sluice/contract";
import { referenceForm } from "./reference.ts";
import type { ReplyForm, StreamForm } from "./reply-form.ts";

/** The form of one request. */
export class KeptForm implements ReplyForm {
  readonly heartbeat: string;
  readonly dropped: readonly string[] = [];
  readonly #face: Face;
  readonly #requestId: string;

  constructor(face: Face, requestId: string) {
    this.heartbeat = face.heartbeat;
    this.#face = face;
    this.#requestId = requestId;
  }

  whole(reply: WholeReply): WholeReply {
    return reply;
  }

  stream(): StreamForm {
    return referenceForm().stream(undefined);
  }

  error(error: GatewayError): FaceError {
    return this.#face.error(error, this.#requestId);
  }
}
