/** Rules of every face, whatever its tables hold. */

import {
  ERROR_CODES,
  type ErrorCode,
  type Face,
  GatewayError,
  type JsonObject,
  type JsonValue,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { must } from "../contract/fault.ts";
import { firstDifference } from "../contract/fixtures.ts";
import { FACE_CONTEXT, documentFor, type FaceCase } from "./cases.ts";
import type { FaceContractOptions, FaceRunner } from "./options.ts";
import { stateOf, streamOf, written } from "./play.ts";
import { eventsOf } from "./wire.ts";

/** The face and its cases. */
export interface FaceRules {
  readonly runner: FaceRunner;
  readonly face: Face;
  readonly cases: readonly FaceCase[];
  readonly options: FaceContractOptions;
}

/** Every code has a status and a body; as the end of a stream it is complete events. */
export function testErrorCodes({ runner, face, cases, options }: FaceRules): void {
  runner.it("writes an error of every code, and keeps its message", () => {
    for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
      const message = `The "${code}"\nhappened.`;
      const error = new GatewayError(code, message, { param: "x", retryAfterMs: 1_500 });
      const { status, body } = face.error(error, FACE_CONTEXT.requestId);
      must(
        Number.isInteger(status) && status >= 400 && status < 600,
        `${code} has the status ${status}.`,
      );
      must(holds(body, message), `The body of ${code} lost the message.`);
      must(status === error.status || status >= 429, `${code} has the status ${status}.`);
    }
  });
  runner.it("ends a stream that fails anywhere with complete events", () => {
    const error = new GatewayError("upstream_failed", 'It "failed"\n\nlate.');
    for (const each of cases.filter(({ kind }) => kind === "stream")) {
      const { chunks } = streamOf(each);
      const state = stateOf(face, each, documentFor);
      for (let end = 0; end <= chunks.length; end++) {
        const events = eventsOf(
          options,
          written(face, state, { chunks: chunks.slice(0, end), error }),
        );
        must(
          events.some(({ data }) => data.includes('It \\"failed\\"')),
          `${each.title}: the failure after ${end} chunks is not on the wire.`,
        );
      }
    }
  });
}

function holds(value: unknown, text: string): boolean {
  if (typeof value === "string") return value.includes(text);
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).some((member) => holds(member, text))
  );
}

/** A heartbeat between any two chunks has no effect. */
export function testHeartbeat({ runner, face, cases, options }: FaceRules): void {
  runner.it("has a heartbeat that no client reads", async () => {
    eventsOf(options, face.heartbeat);
    must(face.heartbeat !== "", "The heartbeat is empty.");
    for (const each of whole(cases)) {
      const { chunks } = streamOf(each);
      const state = stateOf(face, each, documentFor);
      const plain = written(face, state, { chunks, error: undefined });
      const writer = face.stream(state, FACE_CONTEXT);
      const texts = [...chunks.map((chunk) => writer.chunk(chunk)), writer.end()];
      const beaten = texts.map((text) => text + face.heartbeat).join("");
      const [wanted, actual] = await Promise.all([
        options.fold(eventsOf(options, plain), plain),
        options.fold(eventsOf(options, beaten), beaten),
      ]);
      const difference = firstDifference(copy(wanted), copy(actual), "");
      must(difference === undefined, `${each.title}, with heartbeats: ${difference ?? ""}`);
    }
  });
}

/** Two streams at the same time know nothing of each other. */
export function testConcurrency({ runner, face, cases }: FaceRules): void {
  runner.it("writes two streams at once as it writes each alone", () => {
    const streams = whole(cases);
    for (const first of streams) {
      for (const second of streams) {
        const pair = [first, second].map((each) => {
          const { chunks } = streamOf(each);
          const state = stateOf(face, each, documentFor);
          const alone = written(face, state, { chunks, error: undefined });
          return { chunks, alone, writer: face.stream(state, FACE_CONTEXT), text: "" };
        });
        const steps = Math.max(...pair.map(({ chunks }) => chunks.length));
        for (let at = 0; at < steps; at++) {
          for (const each of pair) {
            const chunk = each.chunks[at];
            if (chunk !== undefined) each.text += each.writer.chunk(chunk);
          }
        }
        for (const { text, writer, alone } of pair)
          must(text + writer.end() === alone, `${first.title} and ${second.title} share a state.`);
      }
    }
  });
}

/** The contents of chunks give the events of the chunks. */
export function testTexts({ runner, face, cases }: FaceRules): void {
  runner.it("writes contents that come together as it writes their chunks", () => {
    for (const each of whole(cases)) {
      const state = stateOf(face, each, documentFor);
      const chunks = streamOf(each).chunks.flatMap(inLetters);
      const wanted = written(face, state, { chunks, error: undefined });
      const writer = face.stream(state, FACE_CONTEXT);
      let text = "";
      for (let at = 0; at < chunks.length; at++) {
        text += writer.chunk(chunks[at] ?? {});
        const contents: string[] = [];
        for (let next = contentOf(chunks[at + 1]); next !== undefined;) {
          if (writer.texts === undefined || contentOf(chunks[at]) === undefined) break;
          contents.push(next);
          at += 1;
          next = contentOf(chunks[at + 1]);
        }
        const insides = contents.map((content) => JSON.stringify(content).slice(1, -1));
        if (insides.length > 0) text += writer.texts?.(insides) ?? "";
      }
      must(text + writer.end() === wanted, `${each.title}: contents have other events.`);
    }
  });
}

/** What a chunk says, where it says a content of the first choice alone. */
function contentOf(chunk: JsonObject | undefined): string | undefined {
  const [choice, another] = Array.isArray(chunk?.choices)
    ? (chunk.choices as readonly JsonValue[])
    : [];
  if (another !== undefined || !isObject(choice) || !isObject(choice.delta)) return undefined;
  const { index = 0, delta, finish_reason: finish = null, logprobs = null } = choice;
  const isAlone =
    index === 0 && finish === null && logprobs === null && Object.keys(delta).length === 1;
  return isAlone && typeof delta.content === "string" ? delta.content : undefined;
}

/** A chunk that says a content, letter by letter. */
function inLetters(chunk: JsonObject): readonly JsonObject[] {
  const content = contentOf(chunk);
  if (content === undefined) return [chunk];
  const [choice] = chunk.choices as readonly JsonObject[];
  return [...content].map((letter) => ({
    ...chunk,
    choices: [{ ...choice, delta: { content: letter } }],
  }));
}

function whole(cases: readonly FaceCase[]): FaceCase[] {
  return cases.filter((each) => each.kind === "stream" && streamOf(each).error === undefined);
}

function copy(value: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
