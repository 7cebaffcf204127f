/**
 * An event whose content is a list, at the front door: blocks of a chunk of a chat completion, and
 * parts of an event of Gemini. Each text is judged, and each item reaches the client once.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createNativeUpstream, type NativeUpstream } from "../support/native-upstream.ts";
import { guardedWorkspace } from "./guardrails.fixture.ts";

const WORD = "zqforbiddenzq";

let upstream: NativeUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createNativeUpstream();
  const workspace = guardedWorkspace({
    baseUrl: `${upstream.url}/v1`,
    attempts: 1,
    providers: [
      `gemini: { use: gemini, api_key: "\${env:NATIVE_KEY}", base_url: ${upstream.url} }`,
    ],
    models: [
      "{ id: m, targets: [{ provider: openai, model: m }] }",
      "{ id: flash, targets: [{ provider: gemini, model: gemini-3-flash }] }",
    ],
    guardrails: [
      `blocking: { use: forbid, word: ${WORD} }`,
      `masking: { use: forbid, word: ${WORD}, action: mask }`,
      `restoring: { use: forbid, word: ${WORD}, action: restore }`,
    ],
    step: "{}",
  });
  gateway = await startGateway(workspace, { NATIVE_KEY: "a-native-credential-0123456789" });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

type Item = Readonly<Record<string, unknown>>;

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (choices: readonly object[], more: object = {}): string =>
  event({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices, ...more });
const delta = (content: unknown): object => ({ index: 0, delta: { content } });
const candidate = (parts: readonly object[], more: object = {}): object => ({
  candidates: [{ index: 0, content: { role: "model", parts }, ...more }],
});

/** A way to stream a list to a client. */
interface Face {
  readonly path: string;
  body(prompt: string): object;
  /** A stream of a single event with these items. */
  stream(items: readonly Item[]): string;
  text(said: string): Item;
  image(id: number): Item;
}

const CHAT: Face = {
  path: "/v1/chat/completions",
  body: (content) => ({ model: "m", stream: true, messages: [{ role: "user", content }] }),
  stream: (items) =>
    chunk([delta(items)]) +
    chunk([{ index: 0, delta: {}, finish_reason: "stop" }]) +
    chunk([], { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }) +
    "data: [DONE]\n\n",
  text: (text) => ({ type: "text", text }),
  image: (id) => ({ type: "image_url", image_url: { url: `https://images.example/${id}` } }),
};

const GEMINI: Face = {
  path: "/v1beta/models/flash:streamGenerateContent?alt=sse",
  body: (text) => ({ contents: [{ role: "user", parts: [{ text }] }] }),
  stream: (items) =>
    event(candidate(items)) +
    event({ ...candidate([], { finishReason: "STOP" }), usageMetadata: { totalTokenCount: 2 } }),
  text: (text) => ({ text }),
  image: (id) => ({ inlineData: { mimeType: "image/png", data: `AAA${id}` } }),
};

/** Lists of one to three texts with a word at each place, without and with images between. */
function listsOf({ text, image }: Face): Item[][] {
  return [1, 2, 3].flatMap((length) =>
    Array.from({ length }, (_, place) => place).flatMap((place) => {
      const texts = Array.from({ length }, (_, at) =>
        text(at === place ? ` ${WORD} ` : ` <${at}> `),
      );
      return [texts, texts.flatMap((one, at) => [one, image(at)])];
    }),
  );
}

/** What a client gets; a connection that is cut ends it. */
async function ask({ path, body }: Face, guardrail: string, prompt = "x"): Promise<string> {
  const response = await fetch(gateway.publicUrl + path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
    body: JSON.stringify({ ...body(prompt), guardrails: [guardrail] }),
  });
  let said = "";
  try {
    for await (const part of response.body ?? []) said += Buffer.from(part).toString("utf8");
  } catch {
    said += "(cut)";
  }
  return said;
}

/** The items that a client got, in their order. */
function itemsOf(said: string): Item[] {
  const items: Item[] = [];
  for (const line of said.split("\n").filter((each) => each.startsWith("data: {")))
    JSON.parse(line.slice(6), (name, value: unknown) => {
      if ((name === "content" || name === "parts") && Array.isArray(value)) items.push(...value);
      return value;
    });
  return items;
}

/** The text of items, and the items without a text. */
function summaryOf(items: readonly Item[]): object {
  return {
    text: items.map(({ text }) => (typeof text === "string" ? text : "")).join(""),
    others: items.filter(({ text }) => text === undefined),
  };
}

const replaced = (items: readonly Item[], by: string): Item[] =>
  JSON.parse(JSON.stringify(items).replaceAll(WORD, by)) as Item[];

describe.each([
  ["a chat completion", CHAT],
  ["Gemini", GEMINI],
])("an event of %s with a list", (_name, face) => {
  // The face of Gemini joins texts.
  const compared = face === CHAT ? (items: readonly Item[]) => items : summaryOf;
  const expectItems = (said: string, items: readonly Item[]): void =>
    expect(compared(itemsOf(said))).toEqual(compared(items));

  it.each(listsOf(face))("is blocked, masked or passed: %#", async (...items) => {
    upstream.reply(200, "text/event-stream", face.stream(items));
    const blocked = await ask(face, "blocking");
    expect(blocked).toContain("blocked this request");
    expect(blocked).not.toContain(WORD);
    expectItems(await ask(face, "masking"), replaced(items, "***"));
    const fine = replaced(items, "fine");
    upstream.reply(200, "text/event-stream", face.stream(fine));
    expectItems(await ask(face, "blocking"), fine);
  });

  it("is restored at each place", async () => {
    for (const items of listsOf(face)) {
      upstream.answer((response, { body }) => {
        const [, masked = WORD] = /value (\S+) of mine/.exec(body.toString()) ?? [];
        expect(masked).not.toBe(WORD);
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(face.stream(replaced(items, masked)));
      });
      // oxlint-disable-next-line no-await-in-loop -- one after the other.
      const said = await ask(face, "restoring", `The value ${WORD} of mine`);
      expectItems(said, items);
    }
  });
});
