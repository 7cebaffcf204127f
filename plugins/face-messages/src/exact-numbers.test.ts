/** Numbers of the arguments of calls, through the face, the provider of Anthropic and back. */

import type { EncodedCall, JsonObject } from "@sluice/contract";
import { documentOf, isObject, Stages, writtenDocument } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";
import { bodyText, FACE_CONTEXT, FACE_MEANS, requestOf } from "@sluice/testing";
import { expect, it } from "vitest";
import { CLIENT, FACE, PROVIDER, TARGET } from "./face.fixture.ts";
import { requestStages } from "./read/request.ts";
import { messageOf } from "./reply/message.ts";

const INPUT = '{"id":1234567890123456789,"rows":[-9007199254740993,1e400],"z":-0}';
const CALL = `{"type":"tool_use","id":"a","name":"f","input":${INPUT}}`;

/** A request with a call in its history. Its first text makes a large one. */
function requestWith(text: string): string {
  const user = (content: string): string => `{"role":"user","content":${content}}`;
  const result = '[{"type":"tool_result","tool_use_id":"a","content":"ok"}]';
  const said = [
    user(JSON.stringify(text)),
    `{"role":"assistant","content":[${CALL}]}`,
    user(result),
  ];
  return `{"model":"${TARGET.model}","max_tokens":9,"messages":[${said.join(",")}]}`;
}

function argumentsIn({ messages: said }: JsonObject): unknown {
  const calls = Members.objectsOf(said).flatMap(({ tool_calls: each }) => Members.objectsOf(each));
  const made = calls[0]?.function;
  return isObject(made) ? made.arguments : undefined;
}

it("a request keeps them, and the provider sends them", () => {
  const { body } = FACE.read(documentOf(requestWith("x")), CLIENT, FACE_MEANS);
  expect(argumentsIn(body)).toBe(INPUT);
  const call = PROVIDER.encode(requestOf(body, { ...TARGET, stream: false })) as EncodedCall;
  expect(bodyText(call.body)).toContain(INPUT);
});

it("a large request keeps them", () => {
  const text = requestWith("ä, 1".repeat(100_000));
  for (const bytes of [undefined, Buffer.from(text)]) {
    const work = requestStages(documentOf(text, bytes), CLIENT);
    expect(argumentsIn(Stages.atOnce(work).body)).toBe(INPUT);
  }
});

it("a reply keeps them", () => {
  const reply = `{"type":"message","role":"assistant","content":[${CALL}],"stop_reason":"tool_use"}`;
  const request = requestOf({}, { ...TARGET, stream: false });
  const { document } = PROVIDER.decode(Buffer.from(reply), request);
  expect(JSON.stringify(document.value)).toContain(JSON.stringify(INPUT));
  const message = messageOf(document.value, {}, { ...FACE_CONTEXT, startedAtMs: 0 });
  expect(String(writtenDocument(message).bytes)).toContain(INPUT);
});
