/** A stream of chunks as events of the Responses API. */

import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";
import type {
  FaceContext,
  FaceStream,
  GatewayError,
  JsonObject,
  JsonValue,
} from "@sluice/contract";
import type { ResponsesState } from "../state.ts";
import { EventText } from "./events.ts";
import { Output } from "./output.ts";
import { Pieces } from "./pieces.ts";
import { type Ending, endingOf, failedBy, itemStatusOf, responseOf } from "./response.ts";
import { usageOf } from "./usage.ts";

const UNFINISHED: JsonObject = {
  code: "server_error",
  message: "The upstream's stream ended without a finish reason. Discard the reply and retry.",
};

const FAILED: Ending = { status: "failed", error: UNFINISHED };

/** The writer of one stream. */
export class ResponseStream implements FaceStream {
  readonly #state: ResponsesState;
  readonly #context: FaceContext;
  readonly #events = new EventText();
  readonly #output: Output;
  readonly #pieces: Pieces;
  #isBegun = false;
  #ending: Ending | undefined;
  #usage: JsonObject | null = null;
  #tier: string | undefined;

  constructor(state: ResponsesState, context: FaceContext) {
    this.#state = state;
    this.#context = context;
    this.#output = new Output(context, state, this.#events);
    this.#pieces = new Pieces(this.#output);
  }

  chunk(chunk: JsonObject): string {
    this.#begin();
    if (chunk.usage !== undefined) this.#usage = usageOf(chunk.usage) ?? this.#usage;
    if (typeof chunk.service_tier === "string") this.#tier = chunk.service_tier;
    for (const choice of Members.objectsOf(chunk.choices)) this.#choice(choice);
    return this.#events.take();
  }

  texts(contents: readonly string[]): string {
    this.#pieces.texts(contents);
    return this.#events.take();
  }

  reply(): JsonObject | undefined {
    return this.#ending === undefined ? undefined : this.#response(this.#ending);
  }

  end(reply?: JsonObject): string {
    this.#begin();
    const ending = this.#ending ?? FAILED;
    this.#final(ending.status, reply ?? this.#response(ending));
    return this.#events.take();
  }

  failure(error: GatewayError): string {
    this.#begin();
    // No event of this API ends a cancelled response: the response in it says so.
    this.#final("failed", this.#response(failedBy(error)));
    return this.#events.take();
  }

  #choice({ index = 0, delta, logprobs, finish_reason: finish }: JsonObject): void {
    if (index !== 0 || this.#ending !== undefined) return;
    if (isObject(delta)) this.#pieces.delta(delta, logprobsOf(logprobs, this.#state));
    if (typeof finish !== "string") return;
    this.#ending = endingOf(finish);
    this.#pieces.end(itemStatusOf(this.#ending));
  }

  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    const response = `"response":${JSON.stringify(this.#response({ status: "in_progress" }))}`;
    this.#events.add("response.created", response);
    this.#events.add("response.in_progress", response);
  }

  #final(status: Ending["status"], response: JsonObject): void {
    this.#events.add(`response.${status}`, `"response":${JSON.stringify(response)}`);
  }

  #response(ending: Ending): JsonObject {
    const isOpen = ending.status === "in_progress";
    const parts = {
      ending,
      output: isOpen ? [] : this.#output.items(),
      usage: isOpen ? null : this.#usage,
      tier: this.#tier,
    };
    return responseOf(this.#state, this.#context, parts);
  }
}

/** The log probabilities of a choice, where the client asked for them. */
export function logprobsOf(
  logprobs: JsonValue | undefined,
  { hasLogprobs }: ResponsesState,
): readonly JsonValue[] {
  return hasLogprobs && isObject(logprobs) ? Members.objectsOf(logprobs.content) : [];
}
