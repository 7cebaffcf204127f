import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { Secret } from "@sluice/contract";
import {
  array,
  assert,
  constantFrom,
  dictionary,
  jsonValue,
  letrec,
  nat,
  oneof,
  property,
} from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { amount } from "@sluice/testing";

import { definitions, sound, TestFolder, type Files } from "./load.fixture.ts";
import { openConfig, resolveSnapshot } from "./load.ts";
import type { Snapshot } from "./snapshot.ts";

const repository = join(import.meta.dirname, "../../../..");
const gatewayText = sound["config/gateway.yaml"] ?? "";

function shipped(): Files {
  const pipelines = readdirSync(join(repository, "pipelines")).map((name) => `pipelines/${name}`);
  return Object.fromEntries(
    ["config/gateway.yaml", "config/prices.yaml", ...pipelines].map((name) => [
      name,
      readFileSync(join(repository, name), "utf8"),
    ]),
  );
}

function load(files: Files, environment: Readonly<Record<string, string>> = {}): Snapshot {
  using folder = new TestFolder({ ...sound, ...files });
  const { snapshot, findings } = folder.load(environment);
  expect(findings).toEqual([]);
  if (snapshot === undefined) throw new Error("no snapshot");
  return snapshot;
}

describe("the shipped configuration", () => {
  it("is refused while it is half written: every prefix that lacks a mandatory section", () => {
    const files = shipped();
    const text = files["config/gateway.yaml"] ?? "";
    const lastSection = text.search(/^models:/m) + "models:".length;
    using folder = new TestFolder(files);
    assert(
      property(nat(lastSection), (length) => {
        folder.write("config/gateway.yaml", text.slice(0, length));
        const { snapshot, findings } = folder.load();
        return snapshot === undefined && findings.length > 0;
      }),
      { numRuns: amount(20, 300) },
    );
  });
});

describe("a snapshot", () => {
  it("is filled with defaults and read into units", () => {
    const { server, store, providers, models, pipelines } = load({}, { OPENAI_API_KEY: "key" });
    expect(server.places).toMatchObject({
      "": { line: 2, column: 1 },
      port: { line: 2, column: 11 },
    });
    const { places: _places, maxHeldBytes, ...settings } = server;
    expect(maxHeldBytes).toBeGreaterThanOrEqual(server.maxBodyBytes);
    expect({ ...settings, dataDirectory: "" }).toEqual({
      host: "127.0.0.1",
      port: 4000,
      reload: "on_save",
      admin: { host: "127.0.0.1", port: 4001, hosts: [], editor: "propose" },
      authHeaders: ["x-service-api-key"],
      errorCode: "status",
      keyDefaults: {},
      openDocs: false,
      workers: 1,
      drainTimeoutMs: 120_000,
      shutdownDelayMs: 0,
      hungWorkerTimeoutMs: 10_000,
      stalledClientMs: 30_000,
      maxBodyBytes: 20_971_520,
      blockWarningMs: 0,
      explainRequests: 1_000,
      dataDirectory: "",
      timeZone: "UTC",
    });
    expect(store).toMatchObject({ use: "sqlite", options: {} });
    expect(providers[0]).toMatchObject({
      name: "openai",
      use: "openai",
      missing: [],
      connections: 512,
      timeouts: {
        connectMs: 5_000,
        firstByteMs: 300_000,
        streamFirstByteMs: 30_000,
        idleMs: 60_000,
        queueMs: 10_000,
      },
    });
    expect(Object.keys(providers[0]?.options ?? {}).sort()).toEqual(["api_key", "base_url"]);
    expect(models[0]).toMatchObject({
      id: "echo",
      mode: "chat",
      accessGroups: [],
      at: { line: 8, column: 5 },
    });
    expect(pipelines[0]).toMatchObject({
      name: "chat",
      file: "pipelines/chat.yaml",
      operation: "chat",
      deadlineMs: 600_000,
    });
    expect(pipelines[0]?.routes).toMatchObject([
      { method: "POST", path: "/v1/chat/completions", at: { line: 3, column: 10 } },
    ]);
    expect(pipelines[0]?.steps).toMatchObject([
      { use: "auth", index: 0, at: { line: 5, column: 9 } },
      { use: "provider", index: 1 },
    ]);
  });

  it("has the defaults of a server where the file has no such section", () => {
    const named = load({
      "config/gateway.yaml": gatewayText.replace("server: { port: 4000 }", "server: {}"),
    }).server;
    const { places, ...absent } = load({
      "config/gateway.yaml": gatewayText.replace("server: { port: 4000 }\n", ""),
    }).server;
    expect({ ...absent, dataDirectory: "" }).toEqual({
      ...named,
      dataDirectory: "",
      places: undefined,
    });
    expect(places[""]).toMatchObject({ line: expect.any(Number) });
    expect([absent.port, absent.admin.port, absent.maxBodyBytes]).toEqual([
      4_000, 4_001, 20_971_520,
    ]);
  });

  it("fills the defaults of bare steps and of steps with options", () => {
    const pipeline = (sound["pipelines/chat.yaml"] ?? "").replace(
      "auth",
      "cache, { use: cache }, { use: retry, with: { attempts: 2 } }",
    );
    expect(
      load({ "pipelines/chat.yaml": pipeline }).pipelines[0]?.steps.map(({ options }) => options),
    ).toEqual([
      { ttl: "10m" },
      { ttl: "10m" },
      { attempts: 2, wait: "250ms", on: [], jitter: true },
      {},
    ]);
  });

  it("is frozen to its depth", () => {
    const frozen = (value: unknown): boolean =>
      typeof value !== "object" ||
      value === null ||
      value instanceof Secret ||
      (Object.isFrozen(value) && Object.values(value).every(frozen));
    expect(frozen(load({}, { OPENAI_API_KEY: "key" }))).toBe(true);
  });

  it("lets SLUICE_HOST, SLUICE_PORT and SLUICE_ADMIN_PORT win", () => {
    const { server } = load(
      {},
      { SLUICE_HOST: "0.0.0.0", SLUICE_PORT: "0", SLUICE_ADMIN_PORT: "9001" },
    );
    expect(server).toMatchObject({
      host: "0.0.0.0",
      port: 0,
      admin: { host: "127.0.0.1", port: 9001, hosts: [], editor: "propose" },
    });
  });

  it("takes numbers and defaults from references", () => {
    const files = {
      "config/gateway.yaml": gatewayText.replace(
        "port: 4000",
        'port: "${env:PORT:-4100}", host: "${env:HOST:-::1}"',
      ),
    };
    expect(load(files).server).toMatchObject({ port: 4100, host: "::1" });
    expect(load(files, { PORT: "4200", HOST: "" }).server).toMatchObject({
      port: 4200,
      host: "::1",
    });
  });

  it("reads a secret from a file beside the gateway file", () => {
    const files = {
      "config/gateway.yaml": gatewayText.replace("${env:OPENAI_API_KEY}", "${file:secrets/key}"),
      "config/secrets/key": "from-the-file\n",
    };
    const key = load(files).providers[0]?.options["api_key"] as Secret;
    expect([key.name, key.reveal()]).toEqual(["file:secrets/key", "from-the-file"]);
  });

  it("makes an empty variable a missing one", () => {
    expect(load({}, { OPENAI_API_KEY: "" }).providers[0]?.missing).toEqual([
      "${env:OPENAI_API_KEY}",
    ]);
  });

  it("refuses a reference that does not resolve in a provider's timeouts: that is no credential", () => {
    const text = gatewayText.replace(
      "{ use: echo }",
      '{ use: echo, timeouts: { idle: "${env:IDLE}" } }',
    );
    using folder = new TestFolder({ ...sound, "config/gateway.yaml": text });
    expect(folder.load().findings.map(({ message }) => message)).toEqual([
      "`providers.echo.timeouts.idle` needs ${env:IDLE}, which is not set",
    ]);
  });

  it("takes declared keys by reference", () => {
    const files = {
      "config/gateway.yaml": `${gatewayText}keys: [{ alias: ci, key: "\${env:K}", models: [echo], tags: [a], user_id: u }]\n`,
    };
    const [key] = load(files, { K: "value" }).keys;
    expect(key).toMatchObject({
      alias: "ci",
      models: ["echo"],
      tags: ["a"],
      userId: "u",
      teamId: undefined,
      metadata: {},
    });
    expect(key?.key.name).toBe("env:K");
  });

  it("finds pipelines beside the gateway file when there are none above", () => {
    using folder = new TestFolder({
      "config/gateway.yaml": gatewayText,
      "config/pipelines/only.yaml": sound["pipelines/chat.yaml"] ?? "",
      "config/pipelines/.hidden.yaml": "x",
    });
    expect(folder.load().snapshot?.pipelines.map(({ file }) => file)).toEqual([
      "config/pipelines/only.yaml",
    ]);
  });
});

describe("whatever the files hold", () => {
  it("gives findings with places and never throws", () => {
    using folder = new TestFolder(sound);
    const keys = [
      "version",
      "server",
      "plugins",
      "models",
      "providers",
      "keys",
      "store",
      "steps",
      "routes",
      "prices",
      "use",
      "with",
      "targets",
    ];
    const value = letrec((tie) => ({
      any: oneof(
        { depthSize: "small" },
        jsonValue({ maxDepth: 1 }),
        constantFrom("echo", "${env:X}", "${file:.}", "${", "retry", "1s"),
        array(tie("any"), { maxLength: 3 }),
        dictionary(constantFrom(...keys), tie("any"), { maxKeys: 6 }),
      ),
    })).any;
    assert(
      property(value, value, value, (gateway, pipeline, prices) => {
        folder.write("config/gateway.yaml", stringify(gateway));
        folder.write("pipelines/chat.yaml", stringify(pipeline));
        folder.write("config/prices.yaml", stringify(prices));
        const { snapshot, findings } = folder.load();
        return (
          snapshot === undefined &&
          findings.length > 0 &&
          findings.every(({ at }) => at.line > 0 && at.column > 0)
        );
      }),
      { numRuns: amount(75, 300) },
    );
  });
});

describe("the digest", () => {
  it("is equal for equal files in different folders, and differs with a file, a reference and an override", () => {
    const first = load({}, { OPENAI_API_KEY: "one" }).digest;
    expect(load({}, { OPENAI_API_KEY: "one", OTHER: "x" }).digest).toBe(first);
    const others = [
      load({}, { OPENAI_API_KEY: "two" }),
      load({}, { OPENAI_API_KEY: "one", SLUICE_PORT: "4000" }),
      load(
        { "pipelines/chat.yaml": `${sound["pipelines/chat.yaml"]}# more\n` },
        { OPENAI_API_KEY: "one" },
      ),
    ].map(({ digest }) => digest);
    expect(new Set([first, ...others]).size).toBe(4);
  });
});

describe("opening", () => {
  it("names plugins with their places before any plugin is loaded", () => {
    using folder = new TestFolder(sound);
    const opened = openConfig({ path: "config/gateway.yaml", cwd: folder.path, environment: {} });
    expect(opened.plugins).toEqual([
      {
        specifier: "@sluice/standard@^1.0.0",
        from: `${folder.path}/config/gateway.yaml`,
        at: { file: "config/gateway.yaml", line: 3, column: 11 },
      },
    ]);
  });

  it("watches what is there, what is referred to and what could be there", () => {
    using folder = new TestFolder({
      ...sound,
      "config/gateway.yaml": gatewayText.replace("${env:OPENAI_API_KEY}", "${file:key}"),
    });
    const { watched } = openConfig({
      path: "config/gateway.yaml",
      cwd: folder.path,
      environment: {},
    });
    expect(watched.map((path) => path.slice(folder.path.length + 1)).sort()).toEqual([
      "config/gateway.yaml",
      "config/key",
      "config/prices.yaml",
      "pipelines",
      "pipelines/chat.yaml",
    ]);
  });

  it("gives the same result each time it is resolved", () => {
    using folder = new TestFolder(sound);
    const opened = openConfig({
      path: "config/gateway.yaml",
      cwd: folder.path,
      environment: { OPENAI_API_KEY: "key" },
    });
    expect(resolveSnapshot(opened, definitions).snapshot?.digest).toBe(
      resolveSnapshot(opened, definitions).snapshot?.digest,
    );
  });

  it("goes on without a gateway file, and reports the pipelines too", () => {
    using folder = new TestFolder({ "pipelines/chat.yaml": "version: 2\n" });
    const { snapshot, findings } = folder.load();
    expect(snapshot).toBeUndefined();
    expect(findings[0]?.message).toBe("the file cannot be read: there is no such file");
    expect(findings.some(({ at }) => at.file === "pipelines/chat.yaml")).toBe(true);
  });
});
