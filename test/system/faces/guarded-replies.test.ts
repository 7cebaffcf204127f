/**
 * Guardrails of replies on every face, for a model of every kind of provider: in texts, thoughts
 * and arguments, whole and streamed in pieces shorter than the word.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guardedWorkspace } from "../guardrails/guardrails.fixture.ts";
import { type Answered, ask, FACES, type FaceName } from "../support/faces/face-clients.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import {
  createScriptedModel,
  type Said,
  type ScriptedModel,
} from "../support/faces/scripted-model.ts";
import { fourProviders, PROVIDERS, PROVIDER_ENVIRONMENT } from "../support/faces/four-providers.ts";

const WORD = "zqforbiddenzq";
const SENTENCE = `It says ${WORD} in the middle.`;
const MASKED = "It says *** in the middle.";

let model: ScriptedModel;
let gateway: GatewayProcess;
const place = () => ({ publicUrl: gateway.publicUrl, key: gateway.masterKey });

beforeAll(async () => {
  model = await createScriptedModel();
  const workspace = guardedWorkspace({
    ...fourProviders(model.url),
    guardrails: [
      `blocking: { use: forbid, word: ${WORD} }`,
      `masking: { use: forbid, word: ${WORD}, action: mask }`,
      `restoring: { use: forbid, word: ${WORD}, action: restore }`,
    ],
    step: "{}",
  });
  gateway = await startGateway(workspace, PROVIDER_ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  await model?.close();
});

const PLACES = ["thought", "text", "calls"] as const;

/** A reply with the sentence at one place. */
function saying(where: (typeof PLACES)[number], sentence: string): Said {
  const call = { id: "call_1", name: "weather", input: { city: sentence } };
  return {
    piece: 4,
    ...(where === "thought" ? { thought: sentence } : {}),
    text: where === "text" ? sentence : "Fine.",
    ...(where === "calls" ? { calls: [call] } : {}),
  };
}

const CASES = FACES.flatMap((face) =>
  PROVIDERS.flatMap((provider) => [false, true].map((stream) => [face, provider, stream] as const)),
);

function askWith(
  face: FaceName,
  provider: string,
  stream: boolean,
  guardrail: string,
  prompt = "Say it.",
): Promise<Answered> {
  const more = {
    guardrails: [guardrail],
    ...(face === "responses" ? { reasoning: { effort: "low", summary: "auto" } } : {}),
  };
  return ask(face, place(), { model: provider, prompt, stream, hasTool: true, more });
}

/** What a client has got of a reply that says a text at a place. */
function saidAt(where: (typeof PLACES)[number], text: string): unknown {
  return where === "calls" ? [{ name: "weather", input: { city: text } }] : text;
}

describe.each(CASES)("%s for %s, streamed: %s", (face, provider, stream) => {
  it.each(PLACES)("a word is blocked in the %s", async (where) => {
    model.says(saying(where, SENTENCE));
    const outcome = await askWith(face, provider, stream, "blocking").catch((error: unknown) => ({
      raw: `${String(error)}${JSON.stringify(error)}`,
    }));
    // OpenAI's SDK resolves with the failed response.
    expect(outcome.raw).toContain("blocked this request");
    expect(outcome.raw).not.toContain(WORD);
    expect(outcome.raw).not.toContain("in the middle");
  });

  it.each(PLACES)("a word is masked in the %s", async (where) => {
    model.says(saying(where, SENTENCE));
    const answered = await askWith(face, provider, stream, "masking");
    expect(answered.raw).not.toContain(WORD);
    expect(answered[where]).toEqual(saidAt(where, MASKED));
  });

  it.each(PLACES)("a word of the prompt is restored in the %s", async (where) => {
    let received = "";
    model.saysTo(({ body }) => {
      received = body.toString();
      const [, masked = "?"] = /value (\S+) of mine/.exec(received) ?? [];
      return saying(where, `It says ${masked} in the middle.`);
    });
    const answered = await askWith(
      face,
      provider,
      stream,
      "restoring",
      `The value ${WORD} of mine`,
    );
    expect(received).not.toContain(WORD);
    expect(answered[where]).toEqual(saidAt(where, SENTENCE));
  });
});
