import { expect, it } from "vitest";
import { nativeUrl } from "./native-url.ts";

it.each([
  ["https://api.openai.com/v1", "v1/files", "", "https://api.openai.com/v1/files"],
  ["https://api.openai.com/v1", "files", "", "https://api.openai.com/v1/files"],
  ["https://api.openai.com/v1", "v10/files", "", "https://api.openai.com/v10/files"],
  ["https://api.openai.com/v1", "v1", "a=b", "https://api.openai.com/v1?a=b"],
  [
    "https://api.anthropic.com",
    "v1/messages",
    "beta=true",
    "https://api.anthropic.com/v1/messages?beta=true",
  ],
  ["http://127.0.0.1:9/a/b", "a/b/c", "", "http://127.0.0.1:9/a/b/c"],
  ["http://127.0.0.1:9/a/b", "b/c", "", "http://127.0.0.1:9/a/b/b/c"],
])("%s and %s?%s", (baseUrl, endpoint, query, url) => {
  expect(nativeUrl(baseUrl, endpoint, query)).toBe(url);
});
