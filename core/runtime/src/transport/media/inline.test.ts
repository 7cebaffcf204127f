import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue, MediaFetchSettings, ProviderRequest } from "@sluice/contract";
import { documentOf } from "@sluice/kit";
import { fakeTarget } from "@sluice/testing";
import type { MediaFetcher } from "./fetch.ts";
import { createMediaInliner } from "./inline.ts";

const settings: MediaFetchSettings = {
  hosts: ["a.example", "*.b.example"],
  allowOrigins: ["http://10.0.0.1:9000"],
  maxBytes: 1_000,
  timeoutMs: 1_000,
  redirects: 0,
  maxParallel: 1,
};

/** Fetches three bytes of whatever is asked for, or as many as the URL says. */
function inlinerOf() {
  const asked: string[] = [];
  const fetcher: MediaFetcher = {
    settings,
    fetch(url, kind, path) {
      asked.push(`${kind} ${url} ${path}`);
      if (url.endsWith("missing")) return Promise.reject(new Error(`${path} is missing`));
      return Promise.resolve({
        mimeType: `${kind}/x`,
        bytes: new Uint8Array(Number(/size=(\d+)/.exec(url)?.[1] ?? 3)),
      });
    },
  };
  return { asked, inliner: createMediaInliner(fetcher) };
}

function requestOf(body: JsonObject): ProviderRequest {
  return {
    operation: "chat",
    document: documentOf(JSON.stringify(body)),
    target: fakeTarget("p", "m"),
    replyModel: "alias",
    stream: false,
    replyId: "chatcmpl-1",
    createdSeconds: 7,
  };
}

const user = (...content: JsonValue[]): JsonObject => ({
  temperature: 0.5,
  messages: [{ role: "user", content }],
});
const exchange = () => ({ signal: new AbortController().signal });
const AT = "messages[0].content[0]";

describe("media by URL", () => {
  it.each<[JsonObject, JsonObject, string]>([
    [
      { type: "image_url", image_url: { url: "https://a.example/1", detail: "low" } },
      { type: "image_url", image_url: { url: "data:image/x;base64,AAAA", detail: "low" } },
      `image https://a.example/1 ${AT}.image_url.url`,
    ],
    [
      { type: "image_url", image_url: "https://c.b.example/1" },
      { type: "image_url", image_url: "data:image/x;base64,AAAA" },
      `image https://c.b.example/1 ${AT}.image_url`,
    ],
    [
      { type: "video_url", video_url: { url: "http://10.0.0.1:9000/v" } },
      { type: "video_url", video_url: { url: "data:video/x;base64,AAAA" } },
      `video http://10.0.0.1:9000/v ${AT}.video_url.url`,
    ],
    [
      { type: "file", file: { filename: "f", file_data: "https://a.example/f" } },
      { type: "file", file: { filename: "f", file_data: "data:document/x;base64,AAAA" } },
      `document https://a.example/f ${AT}.file.file_data`,
    ],
    [
      { type: "document", title: "t", source: { type: "url", url: "https://a.example/d" } },
      {
        type: "document",
        title: "t",
        source: { type: "base64", media_type: "document/x", data: "AAAA" },
      },
      `document https://a.example/d ${AT}.source.url`,
    ],
    [
      { type: "image", source: { type: "url", url: "https://a.example/i" } },
      { type: "image", source: { type: "base64", media_type: "image/x", data: "AAAA" } },
      `image https://a.example/i ${AT}.source.url`,
    ],
  ])("%j go by value", async (block, inlined, fetched) => {
    const { asked, inliner } = inlinerOf();
    const text = { type: "text", text: "https://a.example/1" };
    const made = await inliner.inline(requestOf(user(block, text)), exchange());
    expect(made.document.value).toEqual(user(inlined, text));
    expect(JSON.parse(Buffer.from(made.document.bytes as string).toString())).toEqual(
      user(inlined, text),
    );
    expect(asked).toEqual([fetched]);
  });

  it("of an image request goes by value too", async () => {
    const { inliner } = inlinerOf();
    const made = await inliner.inline(
      requestOf({ prompt: "p", image: "https://a.example/1" }),
      exchange(),
    );
    expect(made.document.value).toEqual({ prompt: "p", image: "data:image/x;base64,AAAA" });
  });

  it.each([
    [user({ type: "image_url", image_url: { url: "https://elsewhere.example/1" } })],
    [user({ type: "image_url", image_url: { url: "https://b.example/1" } })],
    [user({ type: "image_url", image_url: { url: "https://nota.example/1" } })],
    [user({ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } })],
    [
      user({ type: "image_url" }, { type: "file", file: { file_id: "f" } }, null, {
        type: "image",
        source: { type: "file" },
      }),
    ],
    [{ messages: [{ role: "user", content: "https://a.example/1" }] }],
    [{ messages: null }],
    [{ prompt: "p", image: 7 }],
  ])("%j stays the same request", async (body) => {
    const { asked, inliner } = inlinerOf();
    const request = requestOf(body);
    expect(await inliner.inline(request, exchange())).toBe(request);
    expect(asked).toEqual([]);
  });

  it("is fetched once for all places and all tries of an exchange, and anew for another", async () => {
    const { asked, inliner } = inlinerOf();
    const block = { type: "image_url", image_url: { url: "https://a.example/1" } };
    const body = user(block, block);
    const one = exchange();
    await inliner.inline(requestOf(body), one);
    const again = await inliner.inline(requestOf(body), one);
    expect(JSON.stringify(again.document.value).match(/data:image/g)).toHaveLength(2);
    expect(asked).toHaveLength(1);
    await inliner.inline(requestOf(body), exchange());
    expect(asked).toHaveLength(2);
  });

  it("that fails fails the request, and is asked again by the next try", async () => {
    const { asked, inliner } = inlinerOf();
    const body = user({ type: "image_url", image_url: { url: "https://a.example/missing" } });
    const one = exchange();
    await expect(inliner.inline(requestOf(body), one)).rejects.toThrow(
      `${AT}.image_url.url is missing`,
    );
    await expect(inliner.inline(requestOf(body), one)).rejects.toThrow("is missing");
    expect(asked).toHaveLength(2);
  });

  it.each([
    [
      "too many",
      Array.from({ length: 33 }, (_, index) => `https://a.example/${index}`),
      "more than 32 media by URL",
    ],
    [
      "too large together",
      Array.from({ length: 4 }, (_, index) => `https://a.example/${index}?size=9000000`),
      "bytes together",
    ],
  ])("that are %s are refused", async (_what, urls, message) => {
    const { inliner } = inlinerOf();
    const body = user(...urls.map((url) => ({ type: "image_url", image_url: { url } })));
    await expect(inliner.inline(requestOf(body), exchange())).rejects.toThrow(message);
  });
});
