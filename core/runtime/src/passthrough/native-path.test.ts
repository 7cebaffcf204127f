import type { NativeEndpoint } from "@sluice/contract";
import { describe, expect, it } from "vitest";
import { createNativeMatcher, createOpenMatcher, pathFromRoot } from "./native-path.ts";

const ENDPOINTS: readonly NativeEndpoint[] = [
  { path: "v1/messages", model: "body", usage: "text" },
  { path: "{version}/models/{model}:run", model: "path", usage: "text" },
  { path: "model/{model}/invoke", model: "path", usage: "text", hasSlashes: true },
  { method: "GET", path: "v1/things", model: "none", usage: "free" },
];
const match = createNativeMatcher(ENDPOINTS);

describe("a declared endpoint", () => {
  it.each([
    ["POST", "v1/messages", "v1/messages", undefined],
    ["POST", "v1beta/models/a-1:run", "{version}/models/{model}:run", "a-1"],
    ["POST", "v1/models/a%3Ab:run", "{version}/models/{model}:run", "a:b"],
    ["POST", "model/arn%3Ax%2Fy/invoke", "model/{model}/invoke", "arn:x/y"],
    ["GET", "v1/things", "v1/things", undefined],
  ] as const)("%s %s is %s with the model %s", (method, path, endpoint, model) => {
    expect(match(method, path)).toMatchObject({ endpoint: { path: endpoint }, model });
  });

  it.each([
    ["GET", "v1/messages"],
    ["POST", "v1/Messages"],
    ["POST", "v1/messages/"],
    ["POST", "v1/%6dessages"],
    ["POST", "x/v1/messages"],
    ["POST", "v1/models/a%2Fb:run"],
    ["POST", "v1/models/a/b:run"],
    ["POST", "v1%2F/models/a:run"],
    ["POST", "files/models/a:run/x"],
    ["POST", "model/a%2F..%2Fb/invoke"],
    ["POST", "model/a%2F%2Fb/invoke"],
    ["POST", "model/%E0%A4%A/invoke"],
    ["POST", "model/a%0Ab/invoke"],
  ] as const)("%s %s is none", (method, path) => {
    expect(match(method, path)).toBeUndefined();
  });
});

it.each([
  [["GET v1/files"], "GET", "v1/files", true],
  [["GET v1/files"], "POST", "v1/files", false],
  [["v1/files/*"], "DELETE", "v1/files/a", true],
  [["v1/files/*"], "DELETE", "v1/files/a/b", false],
  [["/v1/batches/**"], "POST", "v1/batches/a/cancel", true],
  [["v1/a.b"], "GET", "v1/axb", false],
] as const)("the patterns %j open %s %s: %s", (patterns, method, path, isOpen) => {
  expect(createOpenMatcher(patterns)(method, path)).toBe(isOpen);
});

it.each([
  ["https://a/v1/x?y=1", "", "v1/x"],
  ["https://a/openai/v1/x", "openai", "v1/x"],
  ["https://a/other/v1/x", "openai", undefined],
  ["https://a", "", undefined],
])("the path of %s from the root %j is %s", (url, root, path) => {
  expect(pathFromRoot(url, { root })).toBe(path);
});
