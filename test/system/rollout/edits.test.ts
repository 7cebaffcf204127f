/**
 * Edits as they happen to be written: cut off, in bursts, with a secret's file, with too much gone.
 */

import {
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  mkdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { chat, configPost, configStatus, MESSAGES } from "../support/client.ts";
import { runEditStorm } from "../support/edit-storm.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { amount } from "../support/proof.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const SHIPPED = new URL("../../../config/", import.meta.url).pathname;
const TRUNCATIONS = amount(20, 60);
/** Between two requests without a key: several fall into every reading of the files. */
const ASK_MS = 10;
const MARK = "end_of_config: true";

describe("the shipped configuration, cut off in place", () => {
  let workspace: Workspace;
  let gateway: GatewayProcess;

  beforeAll(async () => {
    workspace = createWorkspace();
    workspace.write(readFileSync(join(SHIPPED, "gateway.yaml"), "utf8"));
    gateway = await startGateway(workspace);
  });
  afterAll(() => gateway?.dispose());

  it(`never applies, at ${TRUNCATIONS} places, and no client is let in without a key meanwhile`, async () => {
    const files = [
      workspace.configPath,
      join(workspace.folder, "config/prices.yaml"),
      ...readdirSync(workspace.pipelinesFolder).map((name) =>
        join(workspace.pipelinesFolder, name),
      ),
    ];
    const cuts = Array.from({ length: TRUNCATIONS }, (_, index) => {
      // Half of them in the gateway file, spread over its length; the rest over the other files.
      const file =
        index % 2 === 0
          ? workspace.configPath
          : (files[1 + (((index - 1) / 2) % (files.length - 1))] ?? "");
      return { file, part: (index + 1) / (TRUNCATIONS + 1) };
    });
    const before = await configStatus(gateway);
    const stopping = new AbortController();
    const statuses: number[] = [];
    const asking = (async () => {
      while (!stopping.signal.aborted) {
        const response = await chat(
          gateway,
          { model: "echo", messages: MESSAGES },
          { headers: { authorization: "" } },
        );
        await response.text();
        statuses.push(response.status);
        await pause(ASK_MS);
      }
    })();
    const outcomes: string[] = [];
    for (const { file, part } of cuts) {
      const whole = readFileSync(file, "utf8");
      const length = Math.floor(part * (whole.lastIndexOf(MARK) + MARK.length));
      writeFileSync(file, whole.slice(0, length));
      outcomes.push((await configPost(gateway, "reload")).outcome);
      writeFileSync(file, whole);
    }
    stopping.abort();
    await asking;
    expect(outcomes).toEqual(outcomes.map(() => "refused"));
    expect(outcomes).toHaveLength(TRUNCATIONS);
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect((await configPost(gateway, "reload")).outcome).toBe("unchanged");
    expect((await configStatus(gateway)).live).toMatchObject({
      generation: before.live.generation,
      digest: before.live.digest,
    });
    console.info(
      `${TRUNCATIONS} truncations: 0 applied, ${statuses.length} requests without a key`,
    );
  });
});

describe("a burst of edits", () => {
  it("loses no request and no stream, mixes no generations, and its last edit is live", async () => {
    const result = await runEditStorm({
      seconds: amount(1, 2),
      editsPerSecond: 100,
      requestsPerSecond: 50,
      streams: 10,
    });
    const {
      failed,
      mixed,
      brokenStreams,
      mostGenerations,
      lastEditLiveMs,
      generationsMade,
      requests,
      edits,
    } = result;
    console.info(
      `${edits} edits, ${requests} requests: ${generationsMade} generations, ${mostGenerations} at a time, last edit live after ${Math.round(lastEditLiveMs)} ms`,
    );
    expect({ failed, mixed, brokenStreams }).toEqual({ failed: [], mixed: [], brokenStreams: [] });
    expect(mostGenerations).toBeLessThanOrEqual(3);
    expect(generationsMade).toBeGreaterThan(0);
  });
});

describe("with a gateway of its own", () => {
  let upstream: Upstream;
  let workspace: Workspace;
  let gateway: GatewayProcess;
  let good: string;
  const secret = () => join(workspace.folder, "config/secrets/key");

  beforeAll(async () => {
    upstream = await createUpstream();
    workspace = createWorkspace({ baseUrl: upstream.baseUrl });
    const text = readFileSync(workspace.configPath, "utf8").replace(
      "${env:OPENAI_API_KEY}",
      "${file:secrets/key}",
    );
    good = `${text}keys: [{ alias: ci, key: "\${env:CI_KEY}", models: [echo] }]\n${MARK}\n`;
    mkdirSync(join(workspace.folder, "config/secrets/..1"), { recursive: true });
    // As a mounted secret: the file is a link through a folder that is swapped whole.
    writeFileSync(join(workspace.folder, "config/secrets/..1/key"), "sk-first");
    symlinkSync("..1", join(workspace.folder, "config/secrets/..data"));
    symlinkSync("..data/key", secret());
    workspace.write(good);
    gateway = await startGateway(workspace, { CI_KEY: "sk-declared-key-of-the-tests-0123456789" });
  });
  afterAll(async () => {
    await gateway?.dispose();
    await upstream?.close();
  });

  const credentialUsed = async (): Promise<unknown> => {
    await (await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES })).text();
    return upstream.requests.at(-1)?.headers["authorization"];
  };

  it("a secret's file that is swapped is in use at the next attempt; a stream in flight goes on with the old one", async () => {
    expect(await credentialUsed()).toBe("Bearer sk-first");
    upstream.script("gpt-4o", { kind: "reply", text: "word ".repeat(60), eventDelayMs: 10 });
    const stream = await chat(gateway, { model: "gpt-4o", messages: MESSAGES, stream: true });
    const home = join(workspace.folder, "config/secrets");
    mkdirSync(join(home, "..2"));
    writeFileSync(join(home, "..2/key"), "sk-second");
    symlinkSync("..2", join(home, "..data_tmp"));
    renameSync(join(home, "..data_tmp"), join(home, "..data"));
    await eventually(
      "the new credential",
      async () => (await credentialUsed()) === "Bearer sk-second",
    );
    const text = await stream.text();
    expect(text.match(/"content":"word "/g)).toHaveLength(60);
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(JSON.stringify(await configStatus(gateway))).not.toMatch(/sk-first|sk-second/);
  });

  it("a secret's file that is gone for a moment switches nothing off", async () => {
    const { live } = await configStatus(gateway);
    rmSync(join(workspace.folder, "config/secrets/..2/key"));
    const { outcome, findings } = await configPost(gateway, "reload");
    expect([outcome, findings[0]?.message]).toEqual([
      "refused",
      "The provider openai works and would become unavailable: ${file:secrets/key} does not resolve.",
    ]);
    expect(await credentialUsed()).toBe("Bearer sk-second");
    writeFileSync(join(workspace.folder, "config/secrets/..2/key"), "sk-second");
    expect((await configPost(gateway, "reload")).outcome).toBe("unchanged");
    expect((await configStatus(gateway)).live.generation).toBe(live.generation);
  });

  it("an edit that removes too much needs its digest; the finding names the digest and the removals", async () => {
    const lines = good.split("\n").filter((line) => !/id: "?(gpt-4o|openai)/.test(line));
    workspace.write(lines.join("\n"));
    const refused = await configPost(gateway, "reload");
    expect(refused).toMatchObject({
      outcome: "refused",
      findings: [{ file: "config/gateway.yaml" }],
    });
    expect(refused.findings[0]?.message).toBe(
      "3 of 4 models would vanish: gpt-4o-mini, gpt-4o, openai/*.",
    );
    const [, digest = ""] = /--force ([0-9a-f]{12})`/.exec(refused.findings[0]?.fix ?? "") ?? [];
    expect(refused.digest?.startsWith(digest)).toBe(true);
    const wrong = await configPost(gateway, "reload", {
      force: digest.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
    });
    expect(wrong.outcome).toBe("refused");
    expect(await configPost(gateway, "reload", { force: digest })).toMatchObject({
      outcome: "applied",
    });
    expect((await chat(gateway, { model: "gpt-4o-mini", messages: MESSAGES })).status).toBe(404);
    workspace.write(good);
    expect((await configPost(gateway, "reload")).outcome).toBe("applied");
  });

  it("a cold setting is refused where it stands", async () => {
    workspace.write(good.replace("server: {", "server: {\n  max_body: 3mb,\n "));
    const { outcome, findings } = await configPost(gateway, "reload");
    expect([outcome, findings[0]?.text]).toEqual([
      "refused",
      expect.stringMatching(
        /^config\/gateway\.yaml:3:3  The setting server\.max_body cannot change/,
      ),
    ]);
    workspace.write(good);
    expect((await configPost(gateway, "reload")).outcome).toBe("unchanged");
  });
});
