import { describe, expect, it } from "vitest";
import { documentOf } from "@sluice/kit";
import { fakeClient } from "@sluice/kit/testing";
import { receiveChat } from "./chat.ts";

const messages = '"messages":[{"role":"user","content":"hi"}]';

function receive(text: string, headers: Readonly<Record<string, string>> = {}) {
  return receiveChat(documentOf(text), fakeClient(headers));
}

describe("a chat request", () => {
  it("keeps its document when it holds nothing of the gateway's", () => {
    const document = documentOf(`{"model":"m",${messages},"unknown":{"x":[1]}}`);
    const request = receiveChat(document, fakeClient());
    expect(request.document).toBe(document);
    expect(request).toMatchObject({
      model: "m",
      stream: false,
      includeUsage: false,
      endUser: null,
      tags: [],
      metadata: {},
      fields: {},
    });
  });

  it("loses the gateway's own fields on the way to the upstream", () => {
    const own =
      '"guardrails":["pii"],"caching":true,"cache":{"ttl":5},"num_retries":2,"fallbacks":[],"context_window_fallback_dict":{},"timeout":3,"tags":["t"],"metadata":{"a":1}';
    const request = receive(`{"model":"m",${own},${messages},"seed":-9007199254740993}`);
    expect(request.document.bytes).toBe(`{"model":"m",${messages},"seed":-9007199254740993}`);
    expect(request.fields).toEqual({
      guardrails: ["pii"],
      caching: true,
      cache: { ttl: 5 },
      num_retries: 2,
      fallbacks: [],
      context_window_fallback_dict: {},
      timeout: 3,
      tags: ["t"],
      metadata: { a: 1 },
    });
  });

  it("says whether it streams, and whether it wants usage", () => {
    expect(receive(`{"model":"m",${messages},"stream":true,"stream_options":{"include_usage":true},"user":"u"}`)).toMatchObject({
      stream: true,
      includeUsage: true,
      endUser: "u",
    });
    expect(receive(`{"model":"m",${messages},"stream":null,"stream_options":null,"user":null,"metadata":null}`)).toMatchObject({
      stream: false,
      includeUsage: false,
    });
  });

  it("joins the tags of body, metadata and header, without repeats", () => {
    const text = `{"model":"m",${messages},"tags":["a","b",7,""],"metadata":{"tags":["b","c"]}}`;
    expect(receive(text, { "x-sluice-tags": "c, d ,,a" }).tags).toEqual(["a", "b", "c", "d"]);
  });

  it("records metadata, but not what steers the gateway", () => {
    const text = `{"model":"m",${messages},"metadata":{"a":1,"tags":["x"],"guardrails":["y"],"spend_logs_metadata":{"z":1}}}`;
    expect(receive(text, { "x-request-id": "mine" }).metadata).toEqual({
      a: 1,
      spend_logs_metadata: { z: 1 },
      client_request_id: "mine",
    });
  });

  it.each(['"max_tokens":0', '"seed":-9007199254740991', '"temperature":"hot"', '"n":null', '"tools":[]'])(
    "with %s is not our business",
    (field) => {
      expect(() => receive(`{"model":"m",${messages},${field}}`)).not.toThrow();
    },
  );

  it.each([
    [`{${messages}}`, "model"],
    [`{"model":"",${messages}}`, "model"],
    [`{"model":null,${messages}}`, "model"],
    [`{"model":["m"],${messages}}`, "model"],
    ['{"model":"m"}', "messages"],
    ['{"model":"m","messages":[]}', "messages"],
    ['{"model":"m","messages":"hi"}', "messages"],
    ['{"model":"m","messages":{"role":"user"}}', "messages"],
    ['{"model":"m","messages":[{"role":"user"},"hi"]}', "messages[1]"],
    ['{"model":"m","messages":[{"content":"hi"}]}', "messages[0]"],
    ['{"model":"m","messages":[null]}', "messages[0]"],
    [`{"model":"m",${messages},"stream":"yes"}`, "stream"],
    [`{"model":"m",${messages},"stream_options":[]}`, "stream_options"],
    [`{"model":"m",${messages},"metadata":"x"}`, "metadata"],
    [`{"model":"m",${messages},"user":7}`, "user"],
  ])("%s is refused, with the field's name", (text, param) => {
    expect(() => receive(text)).toThrow(expect.objectContaining({ code: "invalid_field", status: 400, param }));
  });
});
