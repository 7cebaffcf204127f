import { expect, it } from "vitest";
import { markedModel, nativeQuery } from "./request.ts";

it.each([
  ["v1/files", ""],
  ["v1beta/models/gemini-2.0-flash:generateContent", "gemini-2.0-flash"],
  ["openai/deployments/my-gpt/chat/completions", "my-gpt"],
  [
    "model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
  ],
])("the path %s is marked with the model %j", (path, model) => {
  expect(markedModel(path)).toBe(model);
});

it.each([
  ["alt=sse&key=sk-1", "alt=sse"],
  ["a=1;key=2&b=3", "b=3"],
  ["%6Bey=1&a=%20b", "a=%20b"],
])("the query %s goes on as %s", (query, kept) => {
  expect(nativeQuery(query)).toBe(kept);
});
