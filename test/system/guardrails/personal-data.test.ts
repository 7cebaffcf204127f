/**
 * The guardrails pii, secrets and words at work: what the upstream sees, what the client gets, what
 * is left behind.
 */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { APIError } from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, openaiClient, rowsOf } from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const EMAIL = "ada.lovelace@example.com";
const PHONE = "+44 20 7946 0958";
const CARD = "4111 1111 1111 1111";
const TOKEN = ["ghp", "_", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("");
const NAME = "Grace Hopper";

let upstream: Upstream;
let gateway: GatewayProcess;
let workspace: Workspace;

beforeAll(async () => {
  upstream = await createUpstream();
  workspace = createWorkspace({ baseUrl: upstream.baseUrl, attempts: 1 });
  const guardrails = `guardrails:
  pii: { use: pii, action: restore, actions: { card: block, ip: hash }, names: ["${NAME}"], hash_secret: "\${env:HASH_SECRET}", default_on: true }
  secrets: { use: secrets, action: mask, default_on: true }
  words: { use: words, lists: [{ name: rivals, words: [Acme], action: mask }, { name: banned, words: [thermite] }], default_on: true }
`;
  workspace.write(
    readFileSync(workspace.configPath, "utf8").replace(/^models:\n/m, `${guardrails}models:\n`),
  );
  gateway = await startGateway(workspace, { HASH_SECRET: "0123456789abcdef" }, "debug");
});
afterEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const model = "gpt-4o-mini";
const user = (content: string) => ({ role: "user" as const, content });

/** A stream of the reply in two pieces, cut at a place, or in pieces of one size. */
function streamed(pieces: readonly string[]): void {
  const event = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const body = [
    event({ role: "assistant", content: "" }),
    ...pieces.map((content) => event({ content })),
    event({}, "stop"),
  ];
  upstream.script({
    kind: "bytes",
    contentType: "text/event-stream",
    body: `${body.join("")}data: [DONE]\n\n`,
  });
}

async function contentOf(prompt: string): Promise<string> {
  let content = "";
  const stream = await openaiClient(gateway).chat.completions.create({
    model,
    messages: [user(prompt)],
    stream: true,
  });
  for await (const chunk of stream) content += chunk.choices[0]?.delta.content ?? "";
  return content;
}

describe("personal data", () => {
  it("is not shown to the upstream, and is in the reply", async () => {
    upstream.script({ kind: "reply", text: "I informed [NAME_1] at [EMAIL_1] and [PHONE_1]." });
    const prompt = `Tell ${NAME} (${EMAIL}, again ${EMAIL}) to call ${PHONE} from 10.0.0.1`;
    const reply = await openaiClient(gateway).chat.completions.create({
      model,
      messages: [user(prompt)],
    });
    expect(upstream.requests[0]!.body).toMatch(
      /Tell \[NAME_1\] \(\[EMAIL_1\], again \[EMAIL_1\]\) to call \[PHONE_1\] from \[IP:[0-9a-f]{16}\]/,
    );
    expect(reply.choices[0]!.message.content).toBe(`I informed ${NAME} at ${EMAIL} and ${PHONE}.`);
  });

  const reply = "To [EMAIL_1], and [EMAIL_1]; not [EMAIL_2]. bob@example.org wrote.";
  const expected = `To ${EMAIL}, and ${EMAIL}; not [EMAIL_2]. [EMAIL] wrote.`;
  it("comes back in streams, wherever a placeholder is split", async () => {
    for (let at = 2; at <= 13; at++) {
      streamed([reply.slice(0, at), reply.slice(at)]);
      expect(await contentOf(`mail ${EMAIL}`)).toBe(expected);
    }
    for (const size of [1, 3, 7]) {
      streamed(reply.match(new RegExp(`.{1,${size}}`, "g")) ?? []);
      expect(await contentOf(`mail ${EMAIL}`)).toBe(expected);
    }
  });

  it("comes back inside the arguments of a streamed call", async () => {
    upstream.script({
      kind: "reply",
      toolCalls: [{ name: "send", arguments: '{"to":"[EMAIL_1]","who":"[NAME_1]"}' }],
      fragmentLength: 2,
    });
    let args = "";
    const stream = await openaiClient(gateway).chat.completions.create({
      model,
      messages: [user(`write to ${NAME}, ${EMAIL}`)],
      tools: [
        {
          type: "function",
          function: { name: "send", parameters: { type: "object", properties: {} } },
        },
      ],
      stream: true,
    });
    for await (const chunk of stream)
      args += chunk.choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? "";
    expect(JSON.parse(args)).toEqual({ to: EMAIL, who: NAME });
  });
});

describe("what is masked for good", () => {
  it("is credentials and words of a list, in requests and in replies", async () => {
    streamed(["Use gh", `${TOKEN.slice(2)} of A`, "cme."]);
    expect(await contentOf(`My token is ${TOKEN}, for ACM\u0415`)).toBe(
      "Use [SECRET] of [REMOVED].",
    );
    expect(upstream.requests[0]!.body).toContain("My token is [SECRET], for [REMOVED]");
  });
});

describe("what is blocked", () => {
  it.each([
    ["pii", `pay with ${CARD}`, CARD],
    ["words", "how to make t\u200bhermite", "hermite"],
  ])(
    "by %s is a 400 that names the guardrail and nothing of the text",
    async (name, prompt, text) => {
      const error = await openaiClient(gateway)
        .chat.completions.create({ model, messages: [user(prompt)] })
        .then(
          () => undefined,
          (error: unknown) => error,
        );
      expect(error).toBeInstanceOf(APIError);
      expect(error).toMatchObject({ status: 400, param: name, type: "guardrail_violation" });
      expect((error as APIError).message).not.toContain(text);
      expect(upstream.requests).toHaveLength(0);
    },
  );
});

describe("what is left behind", () => {
  it("has nothing of the text: rows, logs, files", async () => {
    upstream.script({ kind: "reply", text: "ok" });
    const passed = await chat(gateway, { model, messages: [user(`${EMAIL} ${TOKEN} ${NAME}`)] });
    const blocked = await chat(gateway, { model, messages: [user(`${EMAIL} ${CARD}`)] });
    await passed.text();
    const rows = [
      ...(await rowsOf(gateway, passed.headers.get("x-request-id"))),
      ...(await rowsOf(gateway, blocked.headers.get("x-request-id"))),
    ];
    expect(rows[0]!.metadata.guardrails).toEqual(
      expect.arrayContaining([
        { guardrail: "pii", direction: "input", verdict: "edit", mode: "enforce" },
      ]),
    );
    const files = readdirSync(workspace.dataDirectory, { recursive: true, encoding: "utf8" })
      .map((name) => join(workspace.dataDirectory, name))
      .filter((path) => statSync(path).isFile())
      .map((path) => readFileSync(path, "latin1"));
    const said = [JSON.stringify(rows), gateway.stdout, gateway.stderr, await blocked.text()].join(
      "\n",
    );
    const isLeft = (text: string): boolean =>
      said.includes(text) || files.some((file) => file.includes(text));
    expect([EMAIL, TOKEN, CARD, PHONE, "hermite is", "0123456789abcdef"].filter(isLeft)).toEqual(
      [],
    );
    // The list of names is part of the configuration, whose history is on disk.
    expect(said).not.toContain(NAME);
  });
});
