/** What the provider of Google sends and reads, through the face and back. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { documentOf, isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";
import { FACE_CONTEXT, FACE_MEANS } from "@sluice/testing";
import { describe, expect, it } from "vitest";
import { folded } from "./fold.fixture.ts";
import { chunksOf, clientOf, decoded, face, fileOf, googleCases, sent } from "./google.fixture.ts";

const CONTEXT = { ...FACE_CONTEXT, requestId: "r-1" };
const GENERATE = "/v1beta/models/gemini-3-flash-preview:generateContent";

function read(body: JsonValue, address = GENERATE) {
  return face.read(documentOf(JSON.stringify(body)), clientOf(address), FACE_MEANS);
}

/** The parts of a request that come back otherwise, and why. */
const OTHERWISE: Readonly<Record<string, (body: JsonObject) => JsonObject>> = {
  // Filters of Google's own are dropped and listed.
  "parameters/request-safety-settings": ({ contents }) => ({ contents }),
  // So is topK: most models have no such parameter.
  "parameters/request-top-k": ({ contents }) => ({ contents }),
  // Budgets are efforts of the reference dialect, and back by the provider's table.
  "thinking/request-own-way": (body) => withThinking(body, { thinkingLevel: "LOW" }),
  "thinking-flash-2-5/request-budget": (body) => withThinking(body, { thinkingBudget: 1_024 }),
  "thinking-pro-2-5/request-budget": (body) => withThinking(body, { thinkingBudget: 1_024 }),
  "thinking-pro-3/request-budget": (body) => withThinking(body, { thinkingLevel: "LOW" }),
  "thinking-pro-3-1/request-budget": (body) => withThinking(body, { thinkingLevel: "LOW" }),
  // A level is an effort, with which the provider shows thoughts; the face shows them on demand.
  "thinking/request-disabled": (body) => withThinking(body, { thinkingLevel: "MINIMAL" }),
  "thinking/request-none": (body) => withThinking(body, { thinkingLevel: "MINIMAL" }),
  // Two contents of one side are one.
  "thinking/request-foreign": () => ({
    contents: [{ role: "user", parts: [{ text: "Why?" }, { text: "Sure?" }] }],
  }),
  // The search of several providers stands beside the list of tools.
  "tools/request-native": (body) => ({
    ...body,
    tools: [{ urlContext: {} }, { codeExecution: {} }, { googleSearch: {} }],
  }),
};

function withThinking(body: JsonObject, thinking: JsonObject): JsonObject {
  return {
    ...body,
    generationConfig: { thinkingConfig: { includeThoughts: true, ...thinking } },
  };
}

const requests = googleCases().flatMap(
  ([title, { name, expected }]): [string, string, JsonObject][] => {
    const body = expected?.body;
    const isChat = name.startsWith("request") && isObject(body) && body.contents !== undefined;
    const { pathname, search } = new URL(String(expected?.url ?? "https://none"));
    return isChat ? [[title, pathname + search, body]] : [];
  },
);

describe("a request of the provider of Google", () => {
  it.each(requests)("comes back as it was: %s", (title, address, body) => {
    const made = read(body, address);
    expect(sent(made.body)).toEqual(OTHERWISE[title]?.(body) ?? body);
  });

  it("is otherwise in known cases alone", () => {
    const titles = new Set(requests.map(([title]) => title));
    expect(titles.size).toBeGreaterThan(50);
    expect(Object.keys(OTHERWISE).filter((title) => !titles.has(title))).toEqual([]);
  });
});

const SHOWN = {
  contents: [{ role: "user", parts: [{ text: "Hi" }] }],
  generationConfig: { thinkingConfig: { includeThoughts: true } },
};

/** A reply without what the reference dialect has no place for. */
function comparable(reply: JsonObject): JsonObject {
  const { usageMetadata: usage, candidates } = folded(`data: ${JSON.stringify(reply)}\n\n`);
  const counts = isObject(usage)
    ? Object.entries(usage).filter(([, value]) => typeof value === "number" && value > 0)
    : [];
  return {
    usage: Object.fromEntries(counts),
    candidates: Members.objectsOf(candidates).map(comparableCandidate),
  };
}

function comparableCandidate({ content, index, ...candidate }: JsonObject): JsonObject {
  const parts = Members.objectsOf(isObject(content) ? content.parts : undefined);
  return {
    content: { parts: parts.flatMap(comparablePart) },
    index: index ?? 0,
    ...Object.fromEntries(
      Object.entries(candidate).filter(
        ([name, value]) => name !== "safetyRatings" && JSON.stringify(value) !== "{}",
      ),
    ),
  };
}

function comparablePart({ functionCall: call, ...part }: JsonObject): readonly JsonObject[] {
  const isEmpty = part.text === "" && (part.thoughtSignature ?? "") === "";
  if (!isObject(call)) return isEmpty ? [] : [part];
  const { id: _, args = {}, ...rest } = call;
  return [{ ...part, functionCall: { ...rest, args } }];
}

/** Replies that come back otherwise, and why. */
const OTHER_REPLIES: ReadonlySet<string> = new Set([
  // The provider keeps the signature of an answer, not that of its image.
  "image-chat/reply",
  // An unknown reason is that of the reference dialect.
  "stop-reasons/reply-a-new-one",
  // No count can be negative.
  "usage/reply-odd",
  // The reference dialect counts the prompts of tools as prompt.
  "usage/reply-tool-prompt",
]);

describe("a reply to the provider of Google", () => {
  const replies = googleCases().flatMap(
    ([title, { name, given, expected }]): [string, JsonObject][] =>
      !OTHER_REPLIES.has(title) &&
      name.startsWith("reply") &&
      isObject(given) &&
      given.candidates !== undefined &&
      isObject(expected?.reply) &&
      expected.reply.object === "chat.completion"
        ? [[title, given]]
        : [],
  );

  it.each(replies)("comes back as it was: %s", (_title, given) => {
    const { body, state } = read(SHOWN);
    const reply = face.whole(decoded(body, given), state, CONTEXT);
    expect(comparable(reply)).toEqual(comparable(given));
  });
});

describe("a stream of the provider of Google", () => {
  // The events of the others are no replies: damage, errors, marks.
  const isWhole = (title: string): boolean => !/^broken\/|stream-(?:blocked|done-mark)/.test(title);
  const streams = googleCases().flatMap(([title, { name, file }]): [string, string][] =>
    name.startsWith("stream") && file !== undefined && isWhole(title) ? [[title, file]] : [],
  );

  it.each(streams)("folds to what was sent: %s", (_title, file) => {
    const { body, state } = read(SHOWN);
    const events = fileOf(file);
    const writer = face.stream(state, CONTEXT);
    const chunks = chunksOf(body, events);
    const text = chunks.map((chunk) => writer.chunk(chunk)).join("") + writer.end();
    expect(comparable(folded(text))).toEqual(comparable(folded(events)));
  });
});
