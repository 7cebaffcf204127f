import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { Secret } from "@sluice/contract";
import { fakeClock } from "@sluice/testing";
import { fakeHost } from "@sluice/testing";
import { serveHttp } from "@sluice/testing/serve-http";
import { createTokenSource, openTokens } from "./token.ts";

interface Service {
  readonly asked: string[];
  answer: { status: number; body: unknown };
}

async function start(answer: Service["answer"]) {
  const service: Service = { asked: [], answer };
  const server = await serveHttp((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      service.asked.push(body);
      const { status, body: reply } = service.answer;
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(reply));
    });
  });
  const clock = fakeClock();
  const source = createTokenSource({
    name: "CLIENT_SECRET",
    clock,
    request: () => ({
      kind: "http",
      method: "POST",
      url: `${server.url}/token`,
      headers: {},
      body: "grant_type=client_credentials",
    }),
  });
  return { service, clock, source };
}

const token = (name: string, life: unknown = 3_600) => ({
  status: 200,
  body: { access_token: name, token_type: "Bearer", expires_in: life },
});

describe("a token source", () => {
  it("fetches one token for all who ask at once, as a secret", async () => {
    const { service, source } = await start(token("t1"));
    const tokens = await Promise.all([source.get(), source.get(), source.get()]);
    expect(tokens.map((each) => each.reveal())).toEqual(["t1", "t1", "t1"]);
    expect(service.asked).toEqual(["grant_type=client_credentials"]);
    expect(String(tokens[0])).toBe("[secret:CLIENT_SECRET]");
    await source.close();
  });

  it("refreshes it shortly before its end, without a wait for callers", async () => {
    const { service, clock, source } = await start(token("t1"));
    await source.get();
    service.answer = token("t2");
    clock.advance(3_299_999);
    expect((await source.get()).reveal()).toBe("t1");
    expect(service.asked).toHaveLength(1);
    clock.advance(1);
    expect((await source.get()).reveal()).toBe("t1");
    await expect.poll(async () => (await source.get()).reveal()).toBe("t2");
    expect(service.asked).toHaveLength(2);
    await source.close();
  });

  it("serves the old one while a renewal fails, and none after its end", async () => {
    const { service, clock, source } = await start(token("t1", "100"));
    await source.get();
    service.answer = { status: 503, body: {} };
    clock.advance(95_000);
    expect((await source.get()).reveal()).toBe("t1");
    await expect.poll(() => service.asked.length).toBe(2);
    clock.advance(5_000);
    await expect(source.get()).rejects.toMatchObject({
      code: "upstream_overloaded",
      retryable: true,
    });
    await source.close();
  });

  it.each([
    [
      401,
      { error: "invalid_client", error_description: "AADSTS7000215: secret detail" },
      "upstream_auth_failed",
    ],
    [400, { error: "unauthorized_client" }, "upstream_auth_failed"],
    [200, { token_type: "Bearer" }, "upstream_auth_failed"],
    [429, {}, "upstream_overloaded"],
    [503, { error: "secret detail" }, "upstream_overloaded"],
    [200, "secret detail", "upstream_auth_failed"],
  ])("says of %i %j the class, a code and a number at most", async (status, body, code) => {
    const { source } = await start({ status, body });
    const error: unknown = await source.get().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code });
    expect(inspect(error, { depth: 9 })).not.toContain("secret detail");
    await source.close();
  });

  it("tells the log the code and the number of a refusal", async () => {
    const body = {
      error: "invalid_client",
      error_description: "AADSTS7000215: Invalid client secret provided.",
    };
    const { source } = await start({ status: 401, body });
    await expect(source.get()).rejects.toMatchObject({
      cause: { message: "The token service returned 401 invalid_client AADSTS7000215" },
    });
    await source.close();
  });

  it("is one for an identity, also of another generation", () => {
    const keys: string[] = [];
    const host = fakeHost({ shared: (key, make) => (keys.push(key), make()) });
    const options = {
      name: "S",
      request: () =>
        ({
          kind: "http",
          method: "POST",
          url: "http://127.0.0.1:1",
          headers: {},
          body: "",
        }) as const,
    };
    const secret = new Secret("S", "the-secret-itself");
    openTokens(host, ["a", secret.reveal()], options);
    openTokens(host, ["a", secret.reveal()], options);
    openTokens(host, ["b", secret.reveal()], options);
    expect(keys[0]).toBe(keys[1]);
    expect(keys[2]).not.toBe(keys[0]);
    expect(keys.join()).not.toContain("the-secret-itself");
  });
});
