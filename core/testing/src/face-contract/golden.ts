/** Golden pairs of a face: requests, replies, streams and errors, each with what must come out. */

import type { Face, FaceRequest, GatewayError, JsonObject, JsonValue } from "@sluice/contract";
import { isObject, Stages } from "@sluice/kit";
import { must } from "../contract/fault.ts";
import { firstDifference } from "../contract/fixtures.ts";
import { attempted } from "../contract/outcome.ts";
import { FACE_CONTEXT, FACE_MEANS, documentFor, errorOf, type FaceCase } from "./cases.ts";
import { chunksOf, completionOf } from "./completion.ts";
import { regroupings } from "./chunks.ts";
import type { FaceContractOptions, FaceRunner } from "./options.ts";
import { frozen, stateOf, streamOf, written } from "./play.ts";
import { eventsOf, shownEvents } from "./wire.ts";

/** One case and what is tested. */
export interface FaceSubject {
  readonly runner: FaceRunner;
  readonly face: Face;
  readonly each: FaceCase;
  readonly options: FaceContractOptions;
}

/** Declares the tests of a case. */
export function testCase(subject: FaceSubject): void {
  switch (subject.each.kind) {
    case "request":
      return testRequest(subject);
    case "reply":
      return testReply(subject);
    case "stream":
      return testStream(subject);
    case "error":
      return testError(subject);
    case "count":
      return testCount(subject);
    case "models":
      return testModels(subject);
  }
}

/** The body for the pipeline, or the refusal; the same twice, and the document unchanged. */
function testRequest({ runner, face, each }: FaceSubject): void {
  runner.it(`reads ${each.title}`, () => {
    const { given, client } = each;
    must(isObject(given), `${each.title} must be an object.`);
    const before = JSON.stringify(given);
    const first = attempted(() => face.read(documentFor(frozen(given)), client, FACE_MEANS));
    const stages = face.readInStages?.bind(face);
    if (stages !== undefined) {
      const staged = attempted(() => Stages.atOnce(stages(documentFor(given), client, FACE_MEANS)));
      must(
        shownReading(staged) === shownReading(first),
        "`readInStages` reads the request differently than `read`.",
      );
    }
    must(JSON.stringify(given) === before, "The client's document was changed.");
    if ("error" in first) {
      each.expect({ refused: shownRefusal(first.error) });
      return;
    }
    const { body, state, ...more } = first.value;
    const second = face.read(documentFor(given), client, FACE_MEANS);
    must(
      JSON.stringify(first.value) === JSON.stringify(second),
      "The same request is read differently twice.",
    );
    must(
      JSON.stringify(structuredClone(state)) === JSON.stringify(state),
      "The state of the request is no plain data.",
    );
    const isEmpty = state === undefined || (isObject(state) && Object.keys(state).length === 0);
    each.expect({
      body,
      ...(isEmpty ? {} : { state: state as JsonValue }),
      ...more,
    } as unknown as JsonObject);
  });
}

/** A reading, or its refusal, as text. */
function shownReading(
  made: { readonly value: FaceRequest } | { readonly error: GatewayError },
): string {
  return JSON.stringify("error" in made ? shownRefusal(made.error) : made.value);
}

function shownRefusal({ code, param, message }: GatewayError): JsonObject {
  return { code, ...(param === undefined ? {} : { param }), message };
}

/** The whole reply; its stream folds to the same. */
function testReply({ runner, face, each, options }: FaceSubject): void {
  const { given, title } = each;
  must(isObject(given), `${title} must be a completion.`);
  const whole = (): JsonObject => {
    const state = frozen(stateOf(face, each, documentFor));
    return face.whole(frozen(given), state, FACE_CONTEXT);
  };
  runner.it(`writes ${title}`, () => {
    each.expect(whole());
    must(JSON.stringify(whole()) === JSON.stringify(whole()), "The same reply differs twice.");
  });
  if (each.unlikeWhole !== undefined) return;
  runner.it(`writes ${title} as a stream that folds to the same`, async () => {
    const state = stateOf(face, each, documentFor);
    const text = written(face, state, { chunks: frozen(chunksOf(given)), error: undefined });
    await same(options, text, whole(), "The folded stream differs from the whole reply");
  });
}

async function same(
  options: FaceContractOptions,
  text: string,
  whole: JsonObject,
  what: string,
): Promise<void> {
  const folded = await options.fold(eventsOf(options, text), text);
  const wanted = plain(options.comparable?.(whole) ?? whole);
  const difference = firstDifference(wanted, plain(folded), "");
  must(difference === undefined, `${what}: ${difference ?? ""}`);
}

function plain(value: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}

/** The events of a stream; in every other grouping of the chunks they fold to the same. */
function testStream({ runner, face, each, options }: FaceSubject): void {
  const { title } = each;
  const given = frozen(streamOf(each));
  const state = frozen(stateOf(face, each, documentFor));
  runner.it(`writes ${title}`, () => {
    each.expect(shownEvents(eventsOf(options, written(face, state, given))));
  });
  if (given.error !== undefined) return;
  runner.it(`writes ${title} alike in every grouping of the chunks`, async () => {
    const text = written(face, state, given);
    const folded = await options.fold(eventsOf(options, text), text);
    for (const [name, chunks] of regroupings(given.chunks)) {
      const other = written(face, state, { chunks, error: undefined });
      await same({ ...options, comparable: (reply) => reply }, other, folded, name);
    }
  });
  runner.it(`keeps of ${title} what it writes`, async () => {
    const writer = face.stream(state, FACE_CONTEXT);
    let text = "";
    for (const chunk of given.chunks) text += writer.chunk(chunk);
    const reply = writer.reply?.();
    text += writer.end(reply);
    must(text === written(face, state, given), "The end is another one when the reply is kept.");
    if (reply !== undefined)
      await same({ ...options, comparable: (one) => one }, text, reply, "The kept reply differs");
  });
  if (each.unlikeWhole !== undefined) return;
  runner.it(`writes ${title} like the whole reply`, async () => {
    const reply = face.whole(completionOf(given.chunks), state, FACE_CONTEXT);
    await same(options, written(face, state, given), reply, "The whole reply differs");
  });
}

/** Status, body and headers of an error; its end of a stream. */
function testError({ runner, face, each, options }: FaceSubject): void {
  runner.it(`writes ${each.title}`, () => {
    const error = errorOf(each.given);
    const { status, headers, body } = face.error(error, FACE_CONTEXT.requestId);
    const stream = face.stream(stateOf(face, each, documentFor), FACE_CONTEXT).failure(error);
    each.expect({
      status,
      ...(headers === undefined ? {} : { headers: { ...headers } }),
      body,
      stream: shownEvents(eventsOf(options, stream)),
    });
  });
}

function testCount({ runner, face, each }: FaceSubject): void {
  runner.it(`writes ${each.title}`, () => {
    must(typeof each.given === "number", `${each.title} must be a number of tokens.`);
    const reply = face.count?.(each.given);
    must(reply !== undefined, "The face counts no tokens.");
    each.expect(reply);
  });
}

/** `given` is the list of the reference dialect. */
function testModels({ runner, face, each }: FaceSubject): void {
  runner.it(`writes ${each.title}`, () => {
    const { models } = face;
    const { given, client } = each;
    must(models !== undefined && isObject(given), "The face has no list of models.");
    const [entry] = given.data as readonly JsonObject[];
    each.expect({
      isAsked: models.isAsked(client),
      list: models.list(frozen(given), client),
      ...(entry === undefined ? {} : { one: models.one(frozen(entry)) }),
    });
  });
}
