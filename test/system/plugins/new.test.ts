/**
 * `sluice new`: what it writes passes its tests and serves a request, by the commands that it
 * prints.
 */

import { spawn } from "node:child_process";
import { globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chat, MESSAGES, openaiClient } from "../support/client.ts";
import { type CommandHost, startCommandHost } from "../support/command-host.ts";
import { eventually } from "../support/eventually.ts";
import {
  type GatewayProcess,
  type ProcessEnvironment,
  runCommand,
  startGateway,
} from "../support/gateway-process.ts";
import { copyCheckout, printedCommands, shell, temporaryFolder } from "../support/new-package.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const folders: string[] = [];
let host: CommandHost;

beforeAll(() => {
  host = startCommandHost();
});
afterAll(() => {
  host?.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = temporaryFolder();
  folders.push(folder);
  return folder;
}

async function run(
  args: readonly string[],
  cwd: string,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const command = runCommand(args, cwd);
  const { code } = await command.ended;
  return { code, stdout: command.stdout, stderr: command.stderr };
}

/** The same, without a process of its own: for what a command says and writes. */
async function runInHost(
  args: readonly string[],
  cwd: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { code, out, error } = await host.run(args, cwd);
  return { code, stdout: out, stderr: error };
}

/** A gateway of the folder `sandbox` that a package has. */
async function startSandbox(
  folder: string,
  environment: ProcessEnvironment = {},
): Promise<GatewayProcess> {
  const place = {
    folder,
    configPath: join(folder, "sandbox/gateway.yaml"),
    remove: () => undefined,
  };
  return startGateway(place as unknown as Workspace, environment);
}

/** One request to the gateway of a package's sandbox that the plugin answers or judges, by kind. */
const SERVES: Readonly<Record<string, (folder: string) => Promise<void>>> = {
  async provider(folder) {
    const upstream = spawn(process.execPath, ["sandbox/upstream.ts"], {
      cwd: folder,
      env: { ...process.env, PORT: "0" },
    });
    let said = "";
    upstream.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
    let gateway: GatewayProcess | undefined;
    try {
      const url = await eventually(
        "the upstream to listen",
        () => /http:\S+\d/.exec(said)?.[0],
        10_000,
      );
      gateway = await startSandbox(folder, { MY_CLOUD_API_KEY: "any", MY_CLOUD_URL: url });
      const whole = await chat(gateway, { model: "my-cloud-large", messages: MESSAGES });
      expect(await whole.json()).toMatchObject({
        model: "my-cloud-large",
        choices: [
          {
            message: { content: "A sluice lets through what may pass, and holds back the rest." },
            finish_reason: "stop",
          },
        ],
        usage: { prompt_tokens: 31, completion_tokens: 14 },
      });
      const chats = openaiClient(gateway).chat.completions;
      const stream = await chats.create({
        model: "my-cloud-large",
        messages: MESSAGES,
        stream: true,
      });
      let text = "";
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
      expect(text).toBe("A sluice lets through what may pass — und hält den Rest zurück.");
    } finally {
      upstream.kill();
      await gateway?.dispose();
    }
  },
  async guardrail(folder) {
    const gateway = await startSandbox(folder);
    try {
      for (const stream of [false, true]) {
        const messages = [{ role: "user", content: "See PRJ-1234, please." }];
        const text = await (await chat(gateway, { model: "echo", messages, stream })).text();
        expect(text).toContain("[TICKET]");
        expect(text).not.toContain("1234,");
      }
    } finally {
      await gateway.dispose();
    }
  },
  async face(folder) {
    const gateway = await startSandbox(folder);
    const ask = (body: object): Promise<Response> =>
      fetch(`${gateway.publicUrl}/v1/my-cloud`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${gateway.masterKey}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({ model: "echo", ...body }),
      });
    try {
      const whole = await ask({ say: "Say it." });
      expect(await whole.json()).toMatchObject({ text: expect.stringContaining("Say it.") });
      const stream = await (await ask({ say: "Say it.", stream: true })).text();
      expect(stream).toContain('"done":true');
      const refused = await ask({ model: "echo" });
      expect([refused.status, await refused.json()]).toMatchObject([
        400,
        { error: { field: "say" } },
      ]);
    } finally {
      await gateway.dispose();
    }
  },
  async step(folder) {
    const gateway = await startSandbox(folder);
    try {
      const short = await chat(gateway, { model: "echo", messages: MESSAGES });
      expect([short.status, short.headers.get("x-my-cloud-messages")]).toEqual([200, "1"]);
      const long = await chat(gateway, {
        model: "echo",
        messages: [MESSAGES, MESSAGES, MESSAGES].flat(),
      });
      expect(long.status).toBe(400);
      expect(await long.json()).toMatchObject({ error: { param: "messages" } });
    } finally {
      await gateway.dispose();
    }
  },
};

describe.each(Object.entries(SERVES))("a new %s, outside of the repository", (kind, serves) => {
  let folder: string;
  let made: Awaited<ReturnType<typeof run>>;

  beforeAll(async () => {
    const place = newFolder();
    made = await run(["new", kind, "my-cloud", "--in", "own plugins"], place);
    folder = join(place, "own plugins", `${kind}-my-cloud`);
  });

  it("is installed, tested and checked by the commands that were printed", async () => {
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const commands = printedCommands(made.stdout);
    const lines = commands.filter(
      (command) => !command.endsWith("&") && !command.includes("sluice serve"),
    );
    expect(lines.length).toBeGreaterThanOrEqual(4);
    const { code, output } = await shell(lines.join("\n"), join(folder, "../.."));
    expect(output).toMatch(/pass [1-9]/);
    expect(output).toContain("fail 0");
    expect(output).toMatch(/ok: 1 pipeline, (?:1 route|2 routes), 1 model, 1 provider/);
    expect(output).not.toContain("warning:");
    expect(code).toBe(0);
  });

  it("has fewer than 20 files", () => {
    expect(Number(/: (\d+) files\.$/m.exec(made.stdout)?.[1])).toBeLessThan(20);
  });

  it("has the types that it says it has", async () => {
    expect(await shell("npm run -s typecheck", folder)).toMatchObject({ code: 0 });
  });

  it("is packed compiled, and installed from that beside a gateway file (journeys B4)", async () => {
    const packed = await shell("npm pack --silent", folder);
    expect(packed).toMatchObject({ code: 0 });
    const archive = packed.output.trim().split("\n").at(-1) ?? "";
    const workspace = createWorkspace();
    try {
      writeFileSync(join(workspace.folder, "package.json"), '{ "private": true }');
      const install = `npm install --offline --no-audit --no-fund --silent ${JSON.stringify(join(folder, archive))}`;
      expect(await shell(install, workspace.folder)).toMatchObject({ code: 0 });
      const text = readFileSync(workspace.configPath, "utf8");
      workspace.write(
        text.replace("plugins:\n", `plugins:\n  - "sluice-${kind}-my-cloud@^0.1.0"\n`),
      );
      const check = await runInHost(["check", "--config", workspace.configPath], workspace.folder);
      expect(check.stdout).toMatch(/^ok: /m);
    } finally {
      workspace.remove();
    }
  });

  it("leaves nothing of the template's name behind", () => {
    const files = globSync("{src,sandbox,fixtures}/**/*.*", { cwd: folder }).concat(
      "README.md",
      "package.json",
    );
    expect(files.length).toBeGreaterThan(5);
    expect(files.filter((file) => /acme/i.test(readFileSync(join(folder, file), "utf8")))).toEqual(
      [],
    );
  });

  it("serves a request", async () => {
    expect.hasAssertions();
    await serves(folder);
  });
});

describe("new packages in a checkout", () => {
  /** Long enough to move what the formatter would break. */
  const NAME = "a-rather-long-name-of-a-plugin-some-more";
  const KINDS = ["provider", "guardrail", "step", "face"] as const;
  const packages = KINDS.map((kind) => `plugins/${kind}-${NAME}`).join(" ");
  let checkout: string;
  let made: Awaited<ReturnType<typeof shell>>;

  beforeAll(async () => {
    checkout = copyCheckout();
    folders.push(checkout);
    made = await shell(
      KINDS.map((kind) => `node core/cli/bin/sluice.js new ${kind} ${NAME}`).join("\n"),
      checkout,
    );
  });

  it("pass with the tests of the house at once", async () => {
    expect(made).toEqual({
      code: 0,
      output: expect.stringContaining(`npm test -- plugins/step-${NAME}`) as string,
    });
    const tests = `${packages} test/architecture/style.test.ts test/architecture/layers.test.ts test/architecture/config-keys.test.ts`;
    const { code, output } = await shell(
      `node node_modules/vitest/vitest.mjs run --project unit ${tests}`,
      checkout,
    );
    expect(output).toMatch(/Test Files.* 7 passed/);
    expect(code).toBe(0);
  });

  it("have the types, and the form, that the house asks for", async () => {
    const { code, output } = await shell(
      `npx tsc -b ${packages}\nnpx oxlint --deny-warnings ${packages}\nnpx oxfmt --check ${packages}`,
      checkout,
    );
    expect({ code, output: code === 0 ? "" : output }).toEqual({ code: 0, output: "" });
  });

  it("are loaded by their names and versions, once npm has linked them", async () => {
    const names = KINDS.map((kind) => `${kind}-${NAME}`);
    const pathOf = (name = ""): string => join(checkout, "plugins", name, "sandbox/gateway.yaml");
    const check = (path: string): ReturnType<typeof shell> =>
      shell(`node core/cli/bin/sluice.js check --config ${path}`, checkout);
    for (const name of names)
      symlinkSync(join("../../plugins", name), join(checkout, "node_modules/@sluice", name));
    const texts = names.map((name) => readFileSync(pathOf(name), "utf8"));
    const checks = names.map((name, index) => {
      writeFileSync(
        pathOf(name),
        (texts[index] ?? "").replace("../src/index.ts", `"@sluice/${name}@^0.1.0"`),
      );
      return check(pathOf(name));
    });
    for (const { output } of await Promise.all(checks)) expect(output).toContain("ok: 1 pipeline");
    // One file that asks for all of them.
    const asked = names.map((name) => `"@sluice/${name}@^0.2.0"`).join("\n  - ");
    writeFileSync(pathOf(names[0]), (texts[0] ?? "").replace("../src/index.ts", asked));
    const { output } = await check(pathOf(names[0]));
    for (const name of names)
      expect(output).toContain(
        `Plugin @sluice/${name} is installed as 0.1.0, but the configuration needs ^0.2.0.`,
      );
  });
});

describe("what a new author does wrong", () => {
  it.each([
    [
      ["new", "plugin", "acme"],
      'There is no kind "plugin": sluice new makes a provider, a guardrail, a step or a face.',
    ],
    [["new", "provider", "MyCloud"], 'The name "MyCloud" cannot be used: '],
    [["new", "provider", "MyCloud"], " Write my-cloud."],
    [["new", "provider", "../x"], "cannot be used"],
    [["new", "provider", "a--b"], "Write a-b."],
    [["new", "provider", "x".repeat(41)], "it has more than 40 characters"],
    [
      ["new", "step", "step-acme"],
      "begins with its kind, which the folder gets by itself. Write acme.",
    ],
    [["new", "provider"], "missing required argument 'name'"],
  ])("%j: %s", async (args, message) => {
    const cwd = newFolder();
    const { code, stderr } = await runInHost(args, cwd);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
    expect(globSync("**/*", { cwd })).toEqual([]);
  });

  it("ends its process with 2, in a line and no stack", async () => {
    const cwd = newFolder();
    const { code, stdout, stderr } = await run(["new", "provider", "MyCloud"], cwd);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr.trim().split("\n")).toEqual([expect.stringContaining(" Write my-cloud.")]);
    expect(globSync("**/*", { cwd })).toEqual([]);
  });

  it("writes over nothing", async () => {
    const cwd = newFolder();
    expect((await runInHost(["new", "step", "acme"], cwd)).code).toBe(0);
    const file = join(cwd, "step-acme/src/index.ts");
    writeFileSync(file, "// mine");
    const { code, stderr } = await runInHost(["new", "step", "acme"], cwd);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("step-acme is there already, and nothing is overwritten"),
    ]);
    expect(readFileSync(file, "utf8")).toBe("// mine");
  });

  it("says so when the place is a file", async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "file"), "");
    const { code, stderr } = await runInHost(["new", "step", "acme", "--in", "file"], cwd);
    expect([code, stderr]).toEqual([2, expect.stringContaining("cannot be made: ")]);
  });

  it("is listed, and explains itself", async () => {
    expect((await runInHost(["help"], newFolder())).stdout).toMatch(/^ +new .*<kind> <name>/m);
    expect((await runInHost(["new", "--help"], newFolder())).stdout).toContain(
      "provider, guardrail, step",
    );
  });
});

describe("the guide for authors", () => {
  const guide = readFileSync(join(import.meta.dirname, "../../../docs/writing-plugins.md"), "utf8");

  it("shows what the command prints", async () => {
    const home = newFolder();
    mkdirSync(join(home, "sluice"));
    const { stdout } = await runInHost(
      ["new", "provider", "acme", "--in", "../own-plugins"],
      join(home, "sluice"),
    );
    const printed = stdout.replaceAll(home, "/home/ada").replaceAll(/ +#/g, " #");
    expect(guide.replaceAll(/ +#/g, " #")).toContain(printed);
  });

  it("has a guardrail in one file that judges", async () => {
    const [, source] = /^```ts\n([\s\S]*?)^```/m.exec(guide) ?? [];
    const workspace = createWorkspace();
    mkdirSync(join(workspace.folder, "my-plugins"));
    writeFileSync(join(workspace.folder, "my-plugins/no-shouting.ts"), source ?? "");
    const text = readFileSync(workspace.configPath, "utf8").replace(
      "plugins:\n",
      "plugins:\n  - ../my-plugins/no-shouting.ts\n",
    );
    workspace.write(`${text}guardrails:\n  no-shouting: { use: no-shouting, default_on: true }\n`);
    const gateway = await startGateway(workspace);
    try {
      const asked = (content: string) =>
        chat(gateway, { model: "echo", messages: [{ role: "user", content }] });
      const blocked = await asked("WHY DOES NOTHING WORK");
      expect(blocked.status).toBe(400);
      expect(guide).toContain(await blocked.text());
      expect((await asked("Why does nothing work?")).status).toBe(200);
    } finally {
      await gateway.dispose();
    }
  });
});
