/** A stream in the client's own dialect: the upstream's events as they came. */

import type { FaceStream, GatewayError } from "@sluice/contract";
import type { FrameBatch } from "@sluice/kit/internals";
import type { StreamForm } from "./reply-form.ts";

/** Characters that wait for the end of a stream. */
const MAX_END_CHARACTERS = 1_048_576;

/** The form of one relayed stream. The gateway adds nothing but the failure of a cut one. */
export class RelayForm implements StreamForm {
  readonly failsAlone: boolean;
  readonly #writer: Pick<FaceStream, "failure">;
  #end = "";

  constructor(writer: Pick<FaceStream, "failure">, failsAlone: boolean) {
    this.#writer = writer;
    this.failsAlone = failsAlone;
  }

  text({ relayed }: FrameBatch): string {
    if (relayed === undefined) return "";
    this.#end += relayed.end;
    if (this.#end.length <= MAX_END_CHARACTERS) return relayed.text;
    // More than an end: it is written as it comes.
    const text = this.#end + relayed.text;
    this.#end = "";
    return text;
  }

  isAscii({ relayed }: FrameBatch): boolean {
    return relayed?.isAscii !== false;
  }

  /** What the gateway estimated stands in its rows alone: the events are the upstream's. */
  chunk(): string {
    return "";
  }

  end(): string {
    return this.#end;
  }

  failure(error: GatewayError): string {
    return this.#writer.failure(error);
  }
}
