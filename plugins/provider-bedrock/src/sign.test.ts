import { inspect } from "node:util";
import { fakeClock } from "@sluice/testing";
import { type HttpCall, Secret } from "@sluice/contract";
import { describe, expect, it } from "vitest";
import { fixedCredentials } from "./credentials.ts";
import { createSigner } from "./sign.ts";
import {
  type ArrivedRequest,
  EXAMPLE_SECRET,
  isSignedWith,
  SDK_REQUEST,
} from "./signature-check.fixture.ts";

const source = fixedCredentials(
  new Secret("id", "AKIDEXAMPLE"),
  new Secret("secret", EXAMPLE_SECRET),
  new Secret("token", "IQoJb3JpZ2luX2VjEXAMPLE//token=="),
);
const sign = createSigner("eu-west-1", source, fakeClock());
const HOST = "https://bedrock-runtime.eu-west-1.amazonaws.com";
const call = (url: string, body: HttpCall["body"] = "{}"): HttpCall => ({
  kind: "http",
  method: "POST",
  url,
  headers: { "content-type": "application/json", "user-agent": "sluice" },
  body,
});

function arrived({ method, url, headers, body }: HttpCall): ArrivedRequest {
  const { host, pathname, search } = new URL(url);
  const shown = Object.entries(headers).map(([name, value]) => [
    name,
    value instanceof Secret ? value.reveal() : value,
  ]);
  return {
    method,
    url: `${pathname}${search}`,
    headers: { host, ...Object.fromEntries(shown) },
    body: body ?? "",
  };
}

describe("a signature", () => {
  it("is checked as the service checks the SDK's own", () => {
    expect(isSignedWith(EXAMPLE_SECRET, SDK_REQUEST)).toBe(true);
    expect(isSignedWith(EXAMPLE_SECRET, { ...SDK_REQUEST, body: "{}" })).toBe(false);
    expect(isSignedWith("another", SDK_REQUEST)).toBe(false);
  });

  it.each([
    ["an id with a colon", `${HOST}/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse`],
    [
      "an ARN",
      `${HOST}/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.x/converse-stream`,
    ],
    ["a colon as it is", `${HOST}/model/amazon.titan-embed-text-v2:0/invoke`],
    ["a query", `${HOST}/model/x/invoke?b=2&a=1%20x`],
    ["a port and a path of its own", "http://127.0.0.1:9/proxy/model/x%3A0/converse"],
  ])("is right for %s", async (_what, url) => {
    expect(isSignedWith(EXAMPLE_SECRET, arrived(await sign(call(url))))).toBe(true);
  });

  it.each([
    ["a text", "Grüße 😀"],
    ["bytes", new TextEncoder().encode("Grüße")],
    ["nothing", undefined],
  ])("is made over %s", async (_what, body) => {
    expect(
      isSignedWith(
        EXAMPLE_SECRET,
        arrived(await sign({ ...call(`${HOST}/model/x/invoke`), body })),
      ),
    ).toBe(true);
  });

  it("covers no header that a proxy may change, and shows no secret", async () => {
    const signed = await sign(call(`${HOST}/model/x/invoke`));
    expect(arrived(signed).headers.authorization).toContain(
      "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token,",
    );
    expect(signed.headers).not.toHaveProperty("host");
    expect(inspect(signed, { depth: 9 })).not.toMatch(/IQoJ|Signature=|wJalr/);
  });
});
