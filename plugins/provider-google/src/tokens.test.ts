import { createVerify, generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fakeClock, fakeHost } from "@sluice/testing";
import { type HttpCall, Secret } from "@sluice/contract";
import { vertex } from "./index.ts";
import { readServiceAccount, tokenRequestBody } from "./service-account.ts";

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const PEM = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const TOKEN = "ya29.a-token-of-the-tests";

let url = "";
let asked: { path: string; headers: IncomingMessage["headers"]; body: string }[] = [];
let answer: (response: ServerResponse) => void;

const server = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    asked.push({ path: request.url ?? "", headers: request.headers, body });
    answer(response);
  });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked = [];
  answer = (response) =>
    response.end(
      JSON.stringify({
        access_token: `${TOKEN}-${asked.length}`,
        expires_in: 3_600,
        token_type: "Bearer",
      }),
    );
});

const keyFile = (members: object = {}): Secret =>
  new Secret(
    "credentials",
    JSON.stringify({
      type: "service_account",
      client_email: "gateway@my-project.iam.gserviceaccount.com",
      private_key: PEM,
      private_key_id: "key-1",
      token_uri: `${url}/token`,
      ...members,
    }),
  );

function provider(credentials?: Secret) {
  const clock = fakeClock();
  const made = vertex.create(
    {
      project: "p",
      location: "global",
      version: "v1",
      metadata_url: url,
      ...(credentials === undefined ? {} : { credentials }),
    },
    fakeHost({ clock }),
  );
  const call: HttpCall = {
    kind: "http",
    method: "POST",
    url: "https://x/",
    headers: { a: "b" },
    body: "{}",
  };
  const authorized = async (): Promise<string> => {
    const ready = await made.authorize?.(call, new AbortController().signal);
    const header = ready?.headers.authorization;
    expect(inspect(ready, { depth: 9 })).not.toContain(TOKEN);
    return header instanceof Secret ? header.reveal() : String(header);
  };
  return { clock, authorized };
}

describe("a token", () => {
  it("of a service account is asked for with a claim that its key signed", async () => {
    const { authorized } = provider(keyFile());
    expect(await authorized()).toBe(`Bearer ${TOKEN}-1`);
    const form = new URLSearchParams(asked[0]?.body);
    expect(form.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
    const [head = "", claim = "", signature = ""] = (form.get("assertion") ?? "").split(".");
    const read = (part: string): unknown => JSON.parse(Buffer.from(part, "base64url").toString());
    expect(read(head)).toEqual({ alg: "RS256", typ: "JWT", kid: "key-1" });
    expect(read(claim)).toMatchObject({
      iss: "gateway@my-project.iam.gserviceaccount.com",
      aud: `${url}/token`,
      scope: "https://www.googleapis.com/auth/cloud-platform",
    });
    const { iat, exp } = read(claim) as { iat: number; exp: number };
    expect(exp - iat).toBe(3_600);
    expect(
      createVerify("RSA-SHA256")
        .update(`${head}.${claim}`)
        .verify(publicKey, signature, "base64url"),
    ).toBe(true);
  });

  it("of the machine is the metadata server's", async () => {
    const { authorized } = provider();
    expect(await authorized()).toBe(`Bearer ${TOKEN}-1`);
    expect(asked[0]).toMatchObject({
      path: "/computeMetadata/v1/instance/service-accounts/default/token",
      headers: { "metadata-flavor": "Google" },
    });
  });

  it("is fetched once for many, and kept", async () => {
    const { authorized } = provider();
    const all = await Promise.all([authorized(), authorized(), authorized()]);
    expect(new Set(all).size).toBe(1);
    await authorized();
    expect(asked.length).toBe(1);
  });

  it("is replaced in good time, without a wait", async () => {
    const { authorized, clock } = provider();
    await authorized();
    clock.advance(3_600_000 - 200_000);
    let fetched: (() => void) | undefined;
    const again = new Promise<void>((resolve) => (fetched = resolve));
    const usual = answer;
    answer = (response) => {
      response.on("finish", () => fetched?.());
      usual(response);
    };
    expect(await authorized()).toBe(`Bearer ${TOKEN}-1`);
    await again;
    await expect.poll(authorized).toBe(`Bearer ${TOKEN}-2`);
    clock.advance(3_600_000);
    expect(await authorized()).toBe(`Bearer ${TOKEN}-3`);
  });

  it.each([
    [
      400,
      { error: "invalid_grant", error_description: "Invalid JWT Signature: SECRET" },
      "upstream_auth_failed",
    ],
    [503, { error: "SECRET" }, "upstream_overloaded"],
    [200, { access_token: 7, error: "SECRET" }, "upstream_auth_failed"],
    [200, "SECRET", "upstream_auth_failed"],
  ])(
    "that is not given (%i %j) is %s, and says nothing of what came",
    async (status, body, code) => {
      const { authorized } = provider(keyFile());
      answer = (response) => response.writeHead(status).end(JSON.stringify(body));
      const error = await authorized().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code });
      expect(inspect(error, { depth: 9 })).not.toMatch(/SECRET|PRIVATE KEY/);
      answer = (response) =>
        response.end(JSON.stringify({ access_token: TOKEN, expires_in: 3_600 }));
      expect(await authorized()).toBe(`Bearer ${TOKEN}`);
    },
  );
});

describe("the key of a service account", () => {
  it.each([
    ["{", "is not JSON"],
    ["[]", "is no key of a service account"],
    ['{"type":"authorized_user"}', "is no key of a service account"],
    ['{"type":"service_account"}', "has no client_email or no private_key"],
    [
      '{"type":"service_account","client_email":"a","private_key":"b"}',
      "has a private_key that cannot be read",
    ],
    [
      '{"type":"service_account","client_email":"a","private_key":"b","token_uri":"ftp://x"}',
      "has a token_uri that is not a URL",
    ],
  ])("%s %s", (text, fault) => {
    expect(readServiceAccount(new Secret("credentials", text))).toBe(fault);
    const found = vertex.check?.({
      project: "p",
      location: "global",
      version: "v1",
      metadata_url: url,
      credentials: new Secret("credentials", text),
    });
    expect(found).toMatchObject([{ path: ["credentials"], message: `\`credentials\` ${fault}` }]);
  });

  it("is asked at Google's own address when it names none", () => {
    const account = readServiceAccount(keyFile({ token_uri: undefined }));
    if (typeof account === "string") throw new Error(account);
    expect(account.tokenUrl).toBe("https://oauth2.googleapis.com/token");
    expect(tokenRequestBody(account, 0)).toMatch(/^grant_type=.+&assertion=.+/);
  });
});

describe("a native request", () => {
  const { passthrough } = vertex.create(
    { project: "p", location: "europe-west1", version: "v1", metadata_url: "http://x" },
    fakeHost(),
  );
  const call = (endpoint: string) =>
    passthrough?.({
      method: "POST",
      endpoint,
      query: "alt=sse",
      headers: { accept: "*/*" },
      body: undefined,
    });

  it.each([
    "v1/projects/p/locations/europe-west1/publishers/x/models/y:rawPredict",
    "v1/publishers/google/models/y:predict",
  ])("to %s goes to the configured location", (endpoint) => {
    const url = `https://europe-west1-aiplatform.googleapis.com/${endpoint}?alt=sse`;
    expect(call(endpoint)).toMatchObject({ url, headers: { accept: "*/*" } });
  });

  it.each([
    "v1/projects/p/locations/us-east5/publishers/x/models/y:rawPredict",
    "v1/projects/other/locations/europe-west1/publishers/x/models/y:predict",
    "v1/projects/other/locations/europe-west1/customJobs",
    "v1/projects/p/locations/evil.example.com%23/models",
    "v1/projects/%70/locations/global/models",
  ])("to %s is refused: it is another project or location", (endpoint) => {
    expect(() => call(endpoint)).toThrow(/another project or location.*p, europe-west1/);
  });
});
