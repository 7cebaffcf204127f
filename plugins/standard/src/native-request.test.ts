import { expect, it } from "vitest";
import { nativeModel } from "./native-request.ts";

it.each([
  ["gpt-4o", "v1/chat/completions", "gpt-4o"],
  ["", "v1/files", ""],
  ["", "v1beta/models/gemini-2.0-flash:generateContent", "gemini-2.0-flash"],
  ["", "openai/deployments/my-gpt/chat/completions", "my-gpt"],
  ["", "model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
  ["", "model/amazon.titan-embed-text-v2:0/invoke", "amazon.titan-embed-text-v2:0"],
  // Whoever may use a cheap model says so in a body that Bedrock does not read.
  ["cheap", "model/dear/invoke", "dear"],
])("a body with the model %j at %s is for %j", (body, endpoint, model) => {
  expect(nativeModel(body, endpoint)).toBe(model);
});
