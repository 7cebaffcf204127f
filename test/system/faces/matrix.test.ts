/**
 * The matrix of faces and providers: every element of a request reaches the upstream, or the
 * request is refused with its place, or the reply's header names what was left out; every element
 * of a reply reaches the client, whole and streamed alike. The cells are in docs/faces-matrix.md,
 * the places of the elements in the file beside this one; `vitest run FILE -u` writes both.
 */

import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { openCompletions } from "../support/faces/four-providers.ts";
import { type Cell, pageOf } from "../support/faces/matrix/page.ts";
import { elementsOf } from "../support/faces/matrix/places.ts";
import {
  type Feature,
  MATRIX_PROVIDERS,
  type MatrixProvider,
  matrixWorkspace,
  modelOf,
} from "../support/faces/matrix/providers.ts";
import {
  expectedStop,
  expectedUsage,
  readReply,
  stopsOf,
} from "../support/faces/matrix/replies.ts";
import {
  ASKED,
  type AskedFeature,
  type FaceWire,
  plantedRequest,
} from "../support/faces/matrix/requests.ts";
import { thinkTwice } from "../support/faces/matrix/thinking.ts";
import { createScriptedModel, type ScriptedModel } from "../support/faces/scripted-model.ts";
import { FACE_WIRES, readWire } from "../support/faces/wires.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

const PAGE = "../../../docs/faces-matrix.md";
const SIGNATURE = "zqsignaturezqAAA";
/** Labels without effect: they reach the upstreams whose API has them. */
const LABELS: ReadonlySet<string> = new Set(["text.format.name"]);

let model: ScriptedModel;
let gateway: GatewayProcess;
const cells: Cell[] = [];
const places: string[] = [];

beforeAll(async () => {
  model = await createScriptedModel();
  const workspace = createWorkspace(matrixWorkspace(model.url));
  openCompletions(workspace);
  gateway = await startGateway(workspace, { NATIVE_KEY: "a-native-credential-0123456789" });
});
afterAll(async () => {
  await gateway?.dispose();
  gateway?.workspace.remove();
  await model?.close();
});

/** The bodies that the upstream got since a count of requests. */
const bodiesSince = (calls: number): readonly Record<string, unknown>[] =>
  model.requests
    .slice(calls)
    .map(({ body }) => JSON.parse(body.toString()) as Record<string, unknown>);

/** Sends the request of a cell. Returns what came of it, and throws for a silent loss. */
async function askPlanted(
  face: FaceWire,
  provider: MatrixProvider,
  feature: AskedFeature,
  stream: boolean,
): Promise<{ readonly verdict: string; readonly places: readonly string[] }> {
  const { path, body } = plantedRequest(face, feature, modelOf(provider, feature), stream);
  const said = feature === "structured output" ? '{"zqformatmembezq":"zqvaluezq"}' : "zqreplyzq";
  model.says({ text: said });
  const calls = model.requests.length;
  const response = await fetch(gateway.publicUrl + path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const reply = readWire(face, response, await response.text());
  const asked = elementsOf(body);
  const [sent] = bodiesSince(calls);
  if (reply.status === 400)
    return { verdict: `refused: \`${placeOf(reply.raw, asked)}\``, places: [] };
  expect([reply.status, reply.end, reply.text]).toEqual([200, "whole", said]);
  const got = new Map(elementsOf(sent).map(({ name, paths }) => [name, paths]));
  const dropped = response.headers.get("x-sluice-dropped-params")?.split(/, ?/) ?? [];
  const lost = asked.filter(
    ({ name, paths }) =>
      !got.has(name) &&
      !paths.every((each) => LABELS.has(each)) &&
      !paths.every((each) => dropped.some((left) => each.startsWith(left))),
  );
  expect(lost).toEqual([]);
  // No upstream stores what the gateway stores.
  const own = face === "responses" ? { model: 0, store: false } : { model: 0 };
  const isLane = isDeepStrictEqual({ ...sent, ...own }, { ...body, ...own });
  const without = dropped.map((left) => `\`${left}\``).join(", ");
  return {
    verdict: isLane ? "lane" : without === "" ? "yes" : `without ${without}`,
    places: asked.map(
      ({ name, paths }) =>
        `${name}: ${paths.join(", ")} -> ${got.get(name)?.join(", ") ?? "nowhere"}`,
    ),
  };
}

/** The place that a refusal names: one of the request's own. Throws for any other refusal. */
function placeOf(raw: string, asked: readonly { readonly paths: readonly string[] }[]): string {
  const members = new Set(
    asked.flatMap(({ paths }) => paths.map((path) => /^\w+/.exec(path)?.[0] ?? path)),
  );
  const named = [...members].find((member) => new RegExp(`\\b${member}\\b`).test(raw));
  if (named === undefined) throw new Error(`A refusal without a place: ${raw}`);
  return named;
}

/** What comes back of a thought in the second turn. */
async function askThinking(
  face: FaceWire,
  provider: MatrixProvider,
  stream: boolean,
): Promise<string> {
  if (face === "completions") return "no form";
  const calls = model.requests.length;
  const call = { id: "call_a", name: "weather", input: { city: "zqcityzq" } };
  model.says({ thought: "zqthoughtzq", calls: [call], signature: SIGNATURE }, { text: "zqdonezq" });
  const place = { publicUrl: gateway.publicUrl, key: gateway.masterKey };
  const text = await thinkTwice(face, place, {
    model: modelOf(provider, "thinking round trip"),
    stream,
  });
  const second = JSON.stringify(bodiesSince(calls)[1]);
  expect([text, second.includes("zqcityzq")]).toEqual(["zqdonezq", true]);
  const hasThought = second.includes("zqthoughtzq");
  if (second.includes(SIGNATURE)) return hasThought ? "signed" : "signature";
  return hasThought ? "text" : "kept out";
}

async function askStops(
  face: FaceWire,
  provider: MatrixProvider,
  stream: boolean,
): Promise<string> {
  const place = { publicUrl: gateway.publicUrl, key: gateway.masterKey };
  const calls = [
    { id: "call_a", name: "weather", input: { city: "zqcityazq" } },
    { id: "call_b", name: "weather", input: { city: "zqcitybzq" } },
  ];
  const seen: unknown[] = [];
  const expected: unknown[] = [];
  for (const stop of stopsOf(provider)) {
    model.says({ text: "zqreplyzq", stop, ...(stop === "calls" ? { calls } : {}) });
    // oxlint-disable-next-line no-await-in-loop -- the model says one thing at a time.
    const read = await readReply(face, place, modelOf(provider, "stop reasons"), stream);
    seen.push([stop, read.stop, read.text, read.calls]);
    const inputs = stop === "calls" && face !== "completions" ? calls : [];
    const shown = inputs.map(({ name, input }) => ({ name, input }));
    expected.push([stop, expectedStop(face, provider, stop), "zqreplyzq", shown]);
  }
  expect(seen).toEqual(expected);
  return "yes";
}

async function askUsage(
  face: FaceWire,
  provider: MatrixProvider,
  stream: boolean,
): Promise<string> {
  const { key, token_id } = await createKey(gateway, {});
  const place = { publicUrl: gateway.publicUrl, key };
  const [usage, parts] = [[1000, 50] as const, { cached: 300, written: 200, reasoning: 20 }];
  model.says({ text: "zqreplyzq", usage, parts });
  const read = await readReply(face, place, modelOf(provider, "usage"), stream);
  expect(read.usage).toMatchObject(expectedUsage(face, provider, usage, parts));
  const rows = await eventually("the row", async () => {
    const found = await spendRows(gateway, { api_key: token_id });
    return found.length > 0 && found;
  });
  expect(rows).toMatchObject([{ prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 }]);
  return "yes";
}

/** What may come back of a thought: what the provider's API has a place for. */
const THOUGHTS: Readonly<Record<MatrixProvider | "completions", readonly string[]>> = {
  openai: ["kept out", "signed"],
  azure: ["kept out", "signed"],
  anthropic: ["signed"],
  gemini: ["signed", "signature"],
  bedrock: ["signed"],
  compatible: ["text"],
  mistral: ["text"],
  cohere: ["text"],
  completions: ["no form"],
};

/** Both forms of a cell have the same verdict. */
async function both(ask: (stream: boolean) => Promise<string>): Promise<string> {
  const [whole, streamed] = [await ask(false), await ask(true)];
  expect(streamed).toBe(whole);
  return whole;
}

describe.each(FACE_WIRES)("%s", (face) => {
  describe.each(MATRIX_PROVIDERS)("at %s", (provider) => {
    const note = (feature: Feature, verdict: string): void =>
      void cells.push({ face, provider, feature, verdict });

    it.each(ASKED)("%s", async (feature) => {
      const [whole, streamed] = [
        await askPlanted(face, provider, feature, false),
        await askPlanted(face, provider, feature, true),
      ];
      expect(streamed.verdict).toBe(whole.verdict);
      places.push(...whole.places.map((place) => `${face} at ${provider}, ${feature}, ${place}`));
      note(feature, whole.verdict);
    });

    it("thinking round trip", async () => {
      const verdict = await both((stream) => askThinking(face, provider, stream));
      expect(THOUGHTS[face === "completions" ? face : provider]).toContain(verdict);
      note("thinking round trip", verdict);
    });

    it("stop reasons", async () => {
      const verdict = await both((stream) => askStops(face, provider, stream));
      expect(verdict).toBe("yes");
      note("stop reasons", verdict);
    });

    it("usage", async () => {
      const verdict = await both((stream) => askUsage(face, provider, stream));
      expect(verdict).toBe("yes");
      note("usage", verdict);
    });
  });
});

describe("the golden files", () => {
  it("are what was seen", async () => {
    await expect(pageOf(cells)).toMatchFileSnapshot(PAGE);
    await expect(`${places.join("\n")}\n`).toMatchFileSnapshot("matrix.places.txt");
  });
});
