/** Records the upstream calls of one test and answers each with its scripted outcome. */

import type { LocalCall, ProviderRequest } from "@sluice/contract";
import type { ScriptedAnswer, ScriptedCall } from "@sluice/runtime/transport";
import { parseJson } from "@sluice/kit";
import type { TestOutcomeSection } from "../config/schema/pipeline-tests.ts";
import { answerOf, type Asked, isNative } from "./outcomes.ts";

/**
 * Header that ties a call to its request and marks a reply in the provider's own dialect. It never
 * leaves the process.
 */
export const CALL_HEADER = "x-sluice-test-call";

/** One upstream call of the test. */
export interface RecordedCall {
  /** `provider/model`; for a native request the provider alone. */
  readonly target: string;
  readonly body: string;
}

/** Gives each call its outcome, in the order in which they are made. */
export class ScriptedUpstreamLog {
  readonly #outcomes: readonly TestOutcomeSection[] | undefined;
  readonly #calls: RecordedCall[] = [];
  readonly #asked = new Map<string, ProviderRequest>();
  readonly #native = new WeakSet<ProviderRequest>();

  constructor(outcomes: readonly TestOutcomeSection[] | undefined) {
    this.#outcomes = outcomes;
  }

  get calls(): readonly RecordedCall[] {
    return this.#calls;
  }

  /** Calls for which the test names no outcome. */
  get surplus(): number {
    return Math.max(0, this.#calls.length - (this.#outcomes?.length ?? 0));
  }

  /** Whether the test has `upstream` outcomes. */
  get isScripted(): boolean {
    return this.#outcomes !== undefined;
  }

  /** Whether an outcome of the test has the upstream stop sending. */
  get isSilent(): boolean {
    return (
      this.#outcomes?.some(
        ({ silent, silent_after: after }) => silent === true || after !== undefined,
      ) === true
    );
  }

  /** Registers a request that is about to be sent. Returns the header value that identifies it. */
  mark(request: ProviderRequest): string {
    const mark = String(this.#asked.size + 1);
    this.#asked.set(mark, request);
    return mark;
  }

  /** Whether the reply of a request is in the provider's own dialect. */
  isNative(request: ProviderRequest): boolean {
    return this.#native.has(request);
  }

  /** Wraps a local call, which answers without a network, so that reading its body records it. */
  recordLocal(request: ProviderRequest, call: LocalCall): LocalCall {
    const record = (): void => {
      this.#native.add(request);
      this.#calls.push({ target: request.target.id, body: textOf(request) });
    };
    const { body } = call;
    return {
      ...call,
      headers: { ...call.headers, [CALL_HEADER]: "native" },
      body: {
        [Symbol.iterator]() {
          record();
          return body[Symbol.iterator]();
        },
      },
    };
  }

  /**
   * The next scripted outcome, for a call through the transport. Without one the connection is
   * refused.
   */
  answer(provider: string, call: ScriptedCall): ScriptedAnswer {
    const request = this.#asked.get(call.headers.get(CALL_HEADER) ?? "");
    const outcome = this.#outcomes?.[this.#calls.length];
    this.#calls.push({ target: request?.target.id ?? provider, body: call.body });
    if (outcome === undefined) return { kind: "refused" };
    if (!isNative(outcome)) return answerOf(outcome, askedOf(request, call));
    if (request !== undefined) this.#native.add(request);
    const answer = answerOf(outcome, askedOf(request, call));
    return answer.kind === "response"
      ? { ...answer, headers: { ...answer.headers, [CALL_HEADER]: "native" } }
      : answer;
  }
}

function askedOf(request: ProviderRequest | undefined, call: ScriptedCall): Asked {
  if (request !== undefined) {
    return { operation: request.operation, stream: request.stream, body: request.document.value };
  }
  const body = parsed(call.body);
  return { operation: "chat", stream: body["stream"] === true, body };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = parseJson(text);
    return typeof value === "object" && value !== null
      ? (value as Readonly<Record<string, unknown>>)
      : {};
  } catch {
    return {};
  }
}

function textOf({ document }: ProviderRequest): string {
  const { bytes } = document;
  return typeof bytes === "string" ? bytes : Buffer.from(bytes).toString("utf8");
}
