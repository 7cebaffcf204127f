/**
 * Requests that are handled in turns of the event loop: every upstream gets every word of them, in
 * the order in which the client wrote them, and masked words where a guardrail masks them.
 */

import type { JsonObject } from "@sluice/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guardedWorkspace } from "../guardrails/guardrails.fixture.ts";
import { type EveryDialect, startEveryDialect } from "../support/every-dialect.ts";
import type { Workspace, WorkspaceOptions } from "../support/workspace.ts";

const COUNT = 1_500;
const WORDS = Array.from(
  { length: COUNT },
  (_, at) => `${"\u00e9\u{1f600} ".repeat(20)}word-${at}.`,
);

const roleAt = (at: number): string => (at % 2 === 0 ? "user" : "assistant");
const turns = WORDS.map((content, at) => ({ role: roleAt(at), content }));

/** Each face: the path, and a request of a model. */
const FACES: Readonly<
  Record<string, (model: string) => readonly [path: string, body: JsonObject]>
> = {
  chat: (model) => ["/v1/chat/completions", { model, messages: turns }],
  "chat, with a member of the gateway's": (model) => [
    "/v1/chat/completions",
    { model, tags: ["a"], messages: turns, user: "u" },
  ],
  messages: (model) => ["/v1/messages", { model, max_tokens: 9, messages: turns }],
  "messages, in blocks": (model) => [
    "/v1/messages",
    {
      model,
      max_tokens: 9,
      messages: [{ role: "user", content: WORDS.map((text) => ({ type: "text", text })) }],
    },
  ],
  responses: (model) => ["/v1/responses", { model, store: false, input: turns }],
  gemini: (model) => [
    `/v1beta/models/${model}:generateContent`,
    {
      contents: WORDS.map((text, at) => ({
        role: at % 2 === 0 ? "user" : "model",
        parts: [{ text }],
      })),
    },
  ],
};
const MODELS = ["openai", "azure", "groq", "anthropic", "gemini", "bedrock", "cohere", "mistral"];

/** What the upstreams get: the words, or masks in their places. */
const FORMS: Readonly<Record<string, (word: string) => string>> = {
  "has its words": (word) => word,
  "has masks in the places of its words": (word) => word.replace("word-", "***"),
};
const masking = (options: WorkspaceOptions): Workspace =>
  guardedWorkspace({
    ...options,
    guardrails: ["mask: { use: forbid, word: word-, action: mask }"],
    step: "{ input: [mask] }",
  });

describe.each(Object.entries(FORMS))("a large request %s", (_form, inForm) => {
  let every: EveryDialect;
  const isMasked = inForm("word-") !== "word-";
  beforeAll(async () => {
    every = await startEveryDialect({}, isMasked ? masking : undefined);
  });
  afterAll(() => every?.close());

  it.each(Object.keys(FACES))("of %s, at every upstream", async (face) => {
    for (const model of MODELS) {
      const [path, body] = FACES[face]?.(model) ?? ["", {}];
      const response = await fetch(every.gateway.publicUrl + path, {
        method: "POST",
        headers: {
          authorization: `Bearer ${every.gateway.masterKey}`,
          "content-type": "application/json",
        },
        body: JSON.stringify(body),
      });
      expect([model, response.status, response.ok || (await response.text())]).toEqual([
        model,
        200,
        true,
      ]);
      const sent = every.upstream.requests.at(-1)?.body.toString() ?? "";
      expect(() => JSON.parse(sent) as unknown).not.toThrow();
      expect(sent.match(/(?:\u00e9\u{1f600} ){20}(?:word-|\*\*\*)\d+\./gu)).toEqual(
        WORDS.map(inForm),
      );
    }
  });
});
