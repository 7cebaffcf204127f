/**
 * Recorded replies of providers through the faces: on the native lane they are what the provider
 * wrote, but for the name of the model; elsewhere the SDK's fold of a stream is the whole reply.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, FACES, type FaceName } from "../support/faces/face-clients.ts";
import { fourProviders, PROVIDER_ENVIRONMENT } from "../support/faces/four-providers.ts";
import { type Recorded, recordedReplies } from "../support/faces/recorded.ts";
import { sendWire, steadyText } from "../support/faces/wires.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";

const LANES = { messages: "anthropic", gemini: "gemini" } as const;
const ALL = recordedReplies();
const ON_LANES = Object.entries(LANES).flatMap(([face, provider]) =>
  ALL.filter((each) => each.provider === provider).map(
    (each) => [face as keyof typeof LANES, each.name, each] as const,
  ),
);
/**
 * Streams that the cache does not join to a whole reply: signed thoughts, blocks of a provider's
 * own tools. One reports a usage of zeros, which a stream corrects in a chunk of its own.
 */
const NOT_JOINED = /thinking|reasoning|server-tools|stream-trace/;
const ON_BRIDGES = FACES.flatMap((face) =>
  ALL.filter(
    ({ provider, isStream, name }) =>
      isStream && !NOT_JOINED.test(name) && (LANES as Record<string, string>)[face] !== provider,
  ).map((each) => [face, `${each.provider} ${each.name}`, each] as const),
);

let upstream: NativeUpstream;
let gateway: GatewayProcess;
let serial = 0;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  gateway = await startGateway(fourProviders(upstream.url), PROVIDER_ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const play = ({ type, body }: Recorded): void => upstream.reply(200, type, body);

/** A recorded text with the client's name of the model. */
function renamed({ body, isStream }: Recorded, model: string): string {
  const text = body.toString("utf8");
  const named = JSON.stringify(model);
  const member = /"(model|modelVersion)":\s*"[^"]*"/;
  return isStream
    ? text.replaceAll(new RegExp(member, "g"), `"$1":${named}`)
    : text.replace(member, `"$1":${named}`);
}

it(`there are ${ALL.length} recorded replies: ${ON_LANES.length} on lanes, ${ON_BRIDGES.length} streams on bridges`, () => {
  expect(ALL.length).toBeGreaterThanOrEqual(50);
});

describe("on the native lane", () => {
  it.each(ON_LANES)("%s gets %s as it was written", async (face, _name, recorded) => {
    play(recorded);
    const { isStream: stream, provider: model } = recorded;
    const response = await sendWire(gateway, face, { model, stream });
    // Events may end with other line feeds than the recorded ones.
    const lines = (text: string): string => text.replaceAll("\r\n", "\n");
    expect([response.status, lines(await response.text())]).toEqual([
      200,
      lines(renamed(recorded, model)),
    ]);
  });
});

describe("on a bridge", () => {
  it.each(ON_BRIDGES)(
    "%s folds a stream of %s to the whole reply",
    async (face, _name, recorded) => {
      play(recorded);
      const place = { publicUrl: gateway.publicUrl, key: gateway.masterKey };
      // The whole reply is made of the stored stream.
      const question = {
        model: recorded.provider,
        prompt: `Question ${(serial += 1)}.`,
        hasTool: true,
        more: moreOf(face),
      };
      const streamed = await ask(face, place, { ...question, stream: true });
      const calls = upstream.requests.length;
      const whole = await ask(face, place, question);
      expect(upstream.requests).toHaveLength(calls);
      const { raw: _raw, requestId: _id, ...shown } = whole;
      expect(streamed).toMatchObject(shown);
      expect(steady(face, streamed.raw)).toEqual(steady(face, whole.raw));
    },
  );
});

const moreOf = (face: FaceName): Record<string, unknown> => ({
  caching: true,
  ...(face === "responses" ? { reasoning: { summary: "auto" } } : {}),
});

/** Members that an SDK adds to what it got, in one of its ways alone. */
const OF_SDK = /^(?:_request_id|parsed.*|output_parsed|output_text)$/;

/** The object that an SDK has made, without ids and times. A face of whole events has no fold. */
function steady(face: FaceName, raw: string): unknown {
  if (face === "gemini") return undefined;
  return JSON.parse(steadyText(raw), (name, value: unknown) =>
    OF_SDK.test(name) ? undefined : value,
  );
}
