/**
 * Breakers through the front door: a verdict concerns what is called, and no single client can
 * bring one about.
 */

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, configPost, createKey } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, runCommand, startGateway } from "../support/gateway-process.ts";
import { createWorkspace } from "../support/workspace.ts";

/** Nothing listens there. */
const DEAD = "http://127.0.0.1:9/v1";

let up: Upstream;
let other: Upstream;
let gateway: GatewayProcess;
let config: string;
/** The keys of the attacker and of the victim. */
let a: string;
let b: string;
let number = 0;

const provider = (name: string, baseUrl: string, more = ""): string =>
  `${name}: { use: openai, api_key: "\${env:OPENAI_API_KEY}", base_url: ${baseUrl}${more} }`;
const wildcard = (name: string): string =>
  `{ id: "${name}/*", targets: [{ provider: ${name}, model: "*" }] }`;

beforeAll(async () => {
  [up, other] = await Promise.all([createUpstream(), createUpstream()]);
  const workspace = createWorkspace({
    server: "reload: on_request",
    balance: "{ breaker: { ejection: 1s, max_ejection: 4s } }",
    providers: [
      provider("up", up.baseUrl),
      provider("plans", up.baseUrl, ", embedding_formats: [float]"),
      provider("expired", up.baseUrl, ", timeouts: { idle: 61s }"),
      `xai: { use: compatible, preset: xai, api_key: "\${env:OPENAI_API_KEY}", base_url: ${up.baseUrl} }`,
      provider("other", other.baseUrl),
      provider("wrong", DEAD),
      provider("narrow", up.baseUrl, ", connections: 1, timeouts: { first_byte: 300ms }"),
    ],
    models: [
      ...["up", "plans", "expired", "xai"].map(wildcard),
      "{ id: exact, targets: [{ provider: up, model: exact }] }",
      "{ id: slow, targets: [{ provider: up, model: slow }] }",
      "{ id: moved, targets: [{ provider: wrong, model: moved }] }",
      "{ id: pair, targets: [{ provider: up, model: pair }, { provider: other, model: pair }] }",
      "{ id: limited, balance: priority, targets: [{ provider: up, model: limited }, { provider: other, model: limited, priority: 1 }] }",
      "{ id: canaried, targets: [{ provider: other, model: canaried }] }",
      "{ id: narrow, targets: [{ provider: narrow, model: narrow }] }",
      "{ id: fastest, balance: lowest_latency, targets: [{ provider: up, model: fastest }, { provider: other, model: fastest }] }",
    ],
  });
  gateway = await startGateway(workspace, {}, "info");
  config = readFileSync(gateway.configPath, "utf8");
  [a, b] = (await Promise.all(
    ["a", "b"].map(async (alias) => (await createKey(gateway, { key_alias: alias })).key),
  )) as [string, string];
});
beforeEach(() => {
  up.reset();
  other.reset();
});
afterAll(async () => {
  await gateway?.dispose();
  await Promise.all([up?.close(), other?.close()]);
});

interface Answer {
  readonly status: number;
  readonly message: string;
  readonly headers: Headers;
}

/** One request of a key with a body of its own. */
async function ask(
  key: string,
  model: string,
  more: object = {},
  signal?: AbortSignal,
): Promise<Answer> {
  const content = `Question ${(number += 1)}.`;
  const init = {
    headers: { authorization: `Bearer ${key}` },
    ...(signal === undefined ? {} : { signal }),
  };
  const response = await chat(
    gateway,
    { model, messages: [{ role: "user", content }], ...more },
    init,
  );
  const text = await response.text();
  const message =
    response.status === 200
      ? ""
      : ((JSON.parse(text) as { error: { message: string } }).error.message ?? "");
  return { status: response.status, message, headers: response.headers };
}

async function statuses(
  key: string,
  model: string,
  times: number,
  more: object = {},
): Promise<number[]> {
  const seen: number[] = [];
  for (let n = 0; n < times; n += 1) seen.push((await ask(key, model, more)).status);
  return seen;
}

async function embed(key: string, model: string): Promise<number> {
  const response = await fetch(`${gateway.publicUrl}/v1/embeddings`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, input: "x" }),
  });
  await response.text();
  return response.status;
}

interface Deployment {
  readonly deployment: string;
  readonly health: string;
  readonly credential_refused: boolean;
  readonly ejected_models: readonly { readonly model: string }[];
}

async function deployment(id: string): Promise<Deployment | undefined> {
  const { deployments } = (await (await admin(gateway, "/deployments")).json()) as {
    deployments: readonly Deployment[];
  };
  return deployments.find((each) => each.deployment === id);
}

/** Calls of a model that an upstream saw. */
const callsOf = (upstream: Upstream, model: string): number =>
  upstream.requests.filter(({ parsed }) => parsed?.["model"] === model).length;

describe("what one key asks of a wildcard", () => {
  it("a 403 about one model refuses that model alone, by a message that says so (P1)", async () => {
    const message = "Project `proj_x` does not have access to model `lacking`.";
    up.script("lacking", { kind: "error", status: 403, code: "model_not_found", message });
    for (const key of [a, b, a, b]) {
      const refused = await ask(key, "up/lacking");
      expect(refused.status).toBe(502);
      expect(refused.message).toContain("The provider's account has no access to this model");
    }
    expect(await statuses(b, "up/present", 2)).toEqual([200, 200]);
    expect(await embed(b, "up/embedding")).toBe(200);
    expect(await deployment("up/*")).toMatchObject({ health: "healthy", ejected_models: [] });
  });

  it("a 403 in words that no table has rests no other model either", async () => {
    up.script("forbidden", { kind: "error", status: 403, message: "Forbidden" });
    up.script("prohibited", { kind: "error", status: 403, message: "Forbidden" });
    expect(await statuses(b, "plans/present", 1)).toEqual([200]);
    for (const model of ["forbidden", "prohibited", "forbidden", "prohibited"])
      await ask(a, `plans/${model}`);
    expect(await statuses(b, "plans/present", 3)).toEqual([200, 200, 200]);
  });

  it("a 403 about content is the client's 400, and nothing rests (clients 1)", async () => {
    const body = JSON.stringify({
      code: "The caller does not have permission",
      error: "Content violates usage guidelines.",
    });
    up.script("flagged", { kind: "bytes", status: 403, body });
    const refused = await ask(a, "xai/flagged");
    expect(refused.status).toBe(400);
    expect(refused.message).toContain("usage guidelines");
    up.script("flagged", { kind: "reply" });
    expect(await statuses(b, "xai/flagged", 1)).toEqual([200]);
  });

  it("a rate limit is the model's own, and its only deployment goes on answering with the upstream's words (P2)", async () => {
    up.script("busy", {
      kind: "error",
      status: 429,
      message: "Rate limit of this model.",
      retryAfter: "31",
    });
    for (let n = 0; n < 8; n += 1) {
      const limited = await ask(a, "up/busy");
      expect([limited.status, limited.message]).toEqual([
        429,
        "Rate limit of this model. (rate_limit_exceeded)",
      ]);
      expect(limited.headers.get("retry-after")).toBe("31");
    }
    expect(await statuses(b, "up/present", 2)).toEqual([200, 200]);
    expect(await deployment("up/*")).toMatchObject({ health: "healthy" });
  });

  it("models that do not exist leave nothing behind", async () => {
    up.script(({ parsed }) =>
      String(parsed?.["model"]).startsWith("invented")
        ? { kind: "error", status: 404, message: "No such model." }
        : { kind: "reply" },
    );
    for (let n = 0; n < 20; n += 1) expect((await ask(a, `up/invented-${n}`)).status).toBe(404);
    expect(await deployment("up/*")).toMatchObject({ health: "healthy", ejected_models: [] });
  });
});

describe("failures that one key chooses (I4)", () => {
  const failing = ({
    parsed,
  }: {
    readonly parsed?: Readonly<Record<string, unknown>> | undefined;
  }) =>
    parsed?.["user"] === "attacker"
      ? ({ kind: "error", status: 500, message: "no" } as const)
      : ({ kind: "reply" } as const);

  it.each(["exact", "up/any"])("five of them at once eject nothing of %s", async (model) => {
    up.script(failing as never);
    expect((await ask(b, model)).status).toBe(200);
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(
        Array.from({ length: 5 }, () => ask(a, model, { user: "attacker", num_retries: 0 })),
      );
      expect(await statuses(b, model, 3)).toEqual([200, 200, 200]);
    }
    expect(await statuses(b, "up/others", 1)).toEqual([200]);
  });

  it("a reset, too", async () => {
    up.script(((request: never) =>
      failing(request).kind === "error" ? { kind: "reset" } : { kind: "reply" }) as never);
    expect((await ask(b, "up/reset")).status).toBe(200);
    await Promise.all(
      Array.from({ length: 6 }, () => ask(a, "up/reset", { user: "attacker", num_retries: 0 })),
    );
    expect(await statuses(b, "up/reset", 3)).toEqual([200, 200, 200]);
  });

  it("of a key that was alone, each with a body of its own: others do not wait", async () => {
    up.script(failing as never);
    // No other key has asked for this model.
    const seen: Answer[] = [];
    for (let n = 0; n < 6; n += 1)
      seen.push(await ask(a, "up/alone", { user: "attacker", num_retries: 0 }));
    expect(seen.at(-1)?.message).toContain("No deployment of the model");
    // Trials of the same key lengthen the ejection for itself alone.
    expect(await statuses(b, "up/alone", 2)).toEqual([200, 200]);
    // From here on the key is not alone.
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(
        Array.from({ length: 5 }, () => ask(a, "up/alone", { user: "attacker", num_retries: 0 })),
      );
      expect(await statuses(b, "up/alone", 2)).toEqual([200, 200]);
    }
  });

  it("an operation has a state of its own", async () => {
    up.script("both", { kind: "error", status: 500, message: "no" });
    for (const key of [a, b, a, b, a, b]) await ask(key, "up/both", { num_retries: 0 });
    expect((await ask(b, "up/both")).status).toBe(503);
    up.script("both", { kind: "reply" });
    expect(await embed(b, "up/both")).toBe(200);
  });
});

describe("a target that is down", () => {
  it("gets no call while it is ejected, and a trial that takes long keeps others out for seconds at most (I5)", async () => {
    up.script("slow", { kind: "error", status: 500, message: "no" });
    for (const key of [b, a, b, a, b, a]) await ask(key, "slow", { num_retries: 0 });
    const calls = callsOf(up, "slow");
    expect(calls).toBe(5);
    const refused = await ask(b, "slow");
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(callsOf(up, "slow")).toBe(calls);
    up.script("slow", ({ parsed }) =>
      parsed?.["user"] === "attacker" ? { kind: "reply", delayMs: 30_000 } : { kind: "reply" },
    );
    const leaving = new AbortController();
    // The attacker asks for every trial, all the time.
    const flood = setInterval(() => {
      void ask(a, "slow", { user: "attacker", num_retries: 0 }, leaving.signal).catch(
        () => undefined,
      );
    }, 50);
    try {
      await eventually("the attacker to have the trial", () => callsOf(up, "slow") > calls);
      await eventually(
        "the victim to be served",
        async () => (await ask(b, "slow")).status === 200,
      );
    } finally {
      clearInterval(flood);
    }
    leaving.abort();
    expect((await deployment("up/slow"))?.health).toBe("healthy");
  });

  it("of two: the other one is asked at once, and the sick one hardly ever (load 2.6)", async () => {
    up.script("pair", { kind: "reset" });
    const startedMs = Date.now();
    for (let n = 0; n < 30; n += 1) {
      const answered = await ask(n % 2 === 0 ? a : b, "pair", { stream: n % 3 === 0 });
      expect(answered.status).toBe(200);
      expect(Number(answered.headers.get("x-sluice-attempts"))).toBeLessThanOrEqual(2);
    }
    // Those before the verdict, and one trial a second at most.
    expect(callsOf(up, "pair")).toBeLessThanOrEqual(
      7 + Math.ceil((Date.now() - startedMs) / 1_000),
    );
  });

  it("a target at its rate limit is passed over until its time, and asked where the other one fails", async () => {
    up.script("limited", { kind: "error", status: 429, retryAfter: "20" });
    expect(await statuses(b, "limited", 5)).toEqual([200, 200, 200, 200, 200]);
    expect(callsOf(up, "limited")).toBe(1);
    expect(await deployment("up/limited")).toMatchObject({ health: "healthy" });
  });

  it("the wait for a connection is no fault of the upstream's (I1)", async () => {
    up.script("narrow", ({ parsed }) =>
      parsed?.["stream"] === true
        ? { kind: "reply", text: "word ".repeat(20), eventDelayMs: 50 }
        : { kind: "reply" },
    );
    const holding = ask(a, "narrow", { stream: true });
    await up.waitFor(({ parsed }) => parsed?.["model"] === "narrow");
    const waited = await Promise.all(
      Array.from({ length: 6 }, () => ask(b, "narrow", { num_retries: 0 })),
    );
    expect(waited.filter(({ status }) => status === 504)).toEqual([]);
    expect((await holding).status).toBe(200);
    expect((await ask(b, "narrow")).status).toBe(200);
    expect(await deployment("narrow/narrow")).toMatchObject({ health: "healthy" });
  });

  it("slow requests of one key move no other key to a slower target (I12)", async () => {
    const at =
      (usual: number) =>
      (request: { readonly parsed?: Readonly<Record<string, unknown>> | undefined }) =>
        ({
          kind: "reply",
          delayMs: request.parsed?.["user"] === "attacker" ? 1_500 : usual,
        }) as const;
    up.script("fastest", at(5) as never);
    other.script("fastest", at(300) as never);
    await statuses(b, "fastest", 4);
    const slow = Array.from({ length: 3 }, () => ask(a, "fastest", { user: "attacker" }));
    await statuses(b, "fastest", 3);
    await Promise.all(slow);
    const served: (string | null)[] = [];
    for (let n = 0; n < 10; n += 1)
      served.push((await ask(b, "fastest")).headers.get("x-sluice-provider"));
    expect(served.filter((name) => name === "up").length).toBeGreaterThanOrEqual(8);
  });
});

describe("a refused credential", () => {
  it("rests what it reaches with the second 401, and a reset ends that", async () => {
    up.script({ kind: "error", status: 401, message: "Invalid key." });
    expect(await statuses(a, "expired/one", 2)).toEqual([502, 502]);
    expect(await statuses(b, "expired/two", 1)).toEqual([503]);
    expect(await deployment("expired/*")).toMatchObject({
      health: "ejected",
      credential_refused: true,
    });
    up.reset();
    // Another provider with the same key and other settings goes on.
    expect(await statuses(b, "up/two", 1)).toEqual([200]);
    const run = async (...args: string[]) => {
      const options = ["--config", gateway.configPath, "--admin-url", gateway.adminUrl];
      const command = runCommand(["deployments", ...args, ...options], gateway.workspace.folder);
      const { code } = await command.ended;
      return { code, text: command.stdout + command.stderr };
    };
    const listed = await run();
    expect(listed.text).toMatch(/^expired\/\* +ejected /m);
    expect(listed.text).toContain("expired/*: the provider refuses the credential");
    expect(await run("reset", "expired/*")).toEqual({
      code: 0,
      text: expect.stringContaining("expired/* is healthy again"),
    });
    expect(await statuses(b, "expired/two", 1)).toEqual([200]);
    expect((gateway.stdout + gateway.stderr).includes('"action":"deployment.reset"')).toBe(true);
  });

  it("one 401 alone rests nothing", async () => {
    up.script("once", { kind: "error", status: 401, message: "Invalid key." }, { kind: "reply" });
    expect(await statuses(a, "expired/once", 2)).toEqual([502, 200]);
  });

  it("a reset by the admin route takes the id as it is or encoded", async () => {
    for (const id of ["up/slow", "up%2Fslow", "up%2F*"]) {
      const response = await admin(gateway, `/deployments/${id}/reset`, {});
      expect([response.status, await response.json()]).toEqual([
        200,
        { deployment: decodeURIComponent(id), reset: true },
      ]);
    }
    expect((await admin(gateway, "/deployments/none/reset", {})).status).toBe(404);
    expect((await admin(gateway, "/deployments/%zz/reset", {})).status).toBe(404);
  });
});

describe("an edit", () => {
  it("that corrects an address begins healthy: the next request succeeds (journeys 1)", async () => {
    expect(new Set(await statuses(a, "moved", 8))).toEqual(new Set([502, 503]));
    expect((await ask(b, "moved")).status).toBe(503);
    gateway.workspace.write(config.replaceAll(DEAD, other.baseUrl));
    expect(await configPost(gateway, "reload")).toMatchObject({ outcome: "applied" });
    expect((await ask(b, "moved")).status).toBe(200);
    config = readFileSync(gateway.configPath, "utf8");
  });

  it("tried as a canary with a dead address fails no request of the stable generation (journeys 2)", async () => {
    const keys = await Promise.all(
      Array.from(
        { length: 100 },
        async (_, n) => (await createKey(gateway, { key_alias: `canary-${n}` })).key,
      ),
    );
    const stable = (await ask(b, "canaried")).headers.get("x-sluice-generation");
    gateway.workspace.write(config.replaceAll(other.baseUrl, DEAD));
    await configPost(gateway, "reload", { canary: { share: "10%", for: "10m" } });
    const failed = { stable: 0, canary: 0 };
    let served = 0;
    for (let round = 0; round < 3; round += 1) {
      for (const { status, headers } of await Promise.all(
        keys.map((key) => ask(key, "canaried")),
      )) {
        const isStable = headers.get("x-sluice-generation") === stable;
        if (status !== 200) failed[isStable ? "stable" : "canary"] += 1;
        else if (isStable) served += 1;
      }
    }
    expect(failed.stable).toBe(0);
    expect(failed.canary).toBeGreaterThan(0);
    expect(served).toBeGreaterThan(0);
    gateway.workspace.write(config);
    await configPost(gateway, "reload");
  });
});
