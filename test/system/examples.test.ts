/**
 * Every folder of `examples/`: the gateway starts on its configuration, and the commands of its
 * README print what the README shows.
 */

import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createUpstream } from "@sluice/testing";
import { afterEach, describe, expect, it } from "vitest";
import { chat, MESSAGES } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import {
  environmentOf,
  type GatewayProcess,
  runCommand,
  startGateway,
} from "./support/gateway-process.ts";

const ROOT = join(import.meta.dirname, "../..");
const MAX_README_LINES = 30;

/** A command of a README and the output under it. */
interface Shown {
  readonly command: string;
  readonly output: string;
}

const EXAMPLES = globSync("examples/*/README.md", { cwd: ROOT })
  .map((path) => path.split("/")[1] ?? "")
  .sort();

let folder = "";
let gateway: GatewayProcess | undefined;

afterEach(async () => {
  await gateway?.dispose();
  gateway = undefined;
  rmSync(folder, { recursive: true, force: true });
});

function readmeOf(example: string): string {
  return readFileSync(join(ROOT, "examples", example, "README.md"), "utf8");
}

/** The blocks of a README in which a `$ ` begins a command and what follows is its output. */
function shownIn(readme: string): readonly (readonly Shown[])[] {
  return [...readme.matchAll(/^```console\n([\s\S]*?)^```/gm)].map(([, block = ""]) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((text) => {
        const [, command = "", output = ""] = /^((?:.*\\\n)*.*)\n?([\s\S]*)$/.exec(text) ?? [];
        return { command, output };
      }),
  );
}

/** Runs a command as the reader's shell does, at this gateway's addresses. */
async function run(command: string): Promise<string> {
  const { publicUrl = "", adminUrl = "" } = gateway ?? {};
  const placed = command
    .replaceAll("http://127.0.0.1:4000", publicUrl)
    .replaceAll("http://127.0.0.1:4001", adminUrl)
    .replace("npm run -s sluice --", `node ${join(ROOT, "core/cli/bin/sluice.js")}`);
  const { stdout } = await promisify(execFile)("bash", ["-c", placed], {
    cwd: folder,
    env: environmentOf({}),
    timeout: 60_000,
  });
  return stdout;
}

/** An output as a pattern: `…` stands for what differs from run to run. */
function patternOf(output: string): RegExp {
  const stable = output
    .replace(/chatcmpl-[\da-f-]{36}/, "chatcmpl-…")
    .replace(/"created":\d+/, '"created":…');
  const text = stable.trimEnd().replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return new RegExp(`^${text.replaceAll("…", '[^"]*?')}$`);
}

async function expectShown(commands: readonly Shown[]): Promise<void> {
  for (const { command, output } of commands) {
    const printed = (await run(command)).replaceAll("\r", "").trimEnd();
    expect(`$ ${command}\n${printed}`.trimEnd()).toMatch(patternOf(`$ ${command}\n${output}`));
  }
}

/**
 * Starts the gateway as the reader does: in a folder with `examples/`, with a master key of its own
 * in `data`.
 */
async function start(
  configPath: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const workspace = {
    folder,
    configPath,
    pipelinesFolder: "",
    dataDirectory: join(folder, "data"),
  };
  gateway = await startGateway(
    { ...workspace, config: () => "", write: () => {}, remove: () => {} },
    { SLUICE_MASTER_KEY: undefined, OPENAI_API_KEY: undefined, ...environment },
  );
}

function place(): void {
  folder = mkdtempSync(join(tmpdir(), "sluice-example-"));
  cpSync(join(ROOT, "examples"), join(folder, "examples"), { recursive: true });
}

describe("the examples", () => {
  it("are those of the table", () => {
    const table = readFileSync(join(ROOT, "examples/README.md"), "utf8");
    expect(EXAMPLES).toEqual(
      [...table.matchAll(/^\| \[([\w-]+)\]/gm)].map(([, name]) => name).sort(),
    );
    expect(EXAMPLES.length).toBeGreaterThan(4);
  });

  it.each(EXAMPLES)(
    "%s has a README of at most 30 lines, which shows commands and output",
    (example) => {
      const readme = readmeOf(example);
      expect(readme.trimEnd().split("\n").length).toBeLessThanOrEqual(MAX_README_LINES);
      expect(shownIn(readme).flat().length).toBeGreaterThan(0);
      expect(
        shownIn(readme)
          .flat()
          .some(({ output }) => output.trim() !== ""),
      ).toBe(true);
    },
  );
});

/** Examples that start no gateway by the command with their own gateway file. */
const OTHERS = ["litellm-migration", "embedded"];

describe.each(EXAMPLES.filter((example) => !OTHERS.includes(example)))(
  "the example %s",
  (example) => {
    it("has no findings, not even warnings, and its tests pass", async () => {
      place();
      const ran = runCommand(
        ["check", "--plugin-timeout", "60s", "--config", `examples/${example}/gateway.yaml`],
        folder,
      );
      const { code } = await ran.ended;
      expect(`${code} ${ran.stderr}${ran.stdout}`).toMatch(/^0 ok: /);
    });

    it("answers as its README shows", async () => {
      place();
      const readme = readmeOf(example);
      expect(readme).toContain(
        `npm run -s sluice -- serve --config examples/${example}/gateway.yaml`,
      );
      await start(join(folder, "examples", example, "gateway.yaml"));
      for (const commands of shownIn(readme)) await expectShown(commands);
    });
  },
);

describe("the example embedded", () => {
  /** A folder in which a program finds the engine, as one that installed it does. */
  function placeProgram(): void {
    place();
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  }

  it("has no findings, and prints what its README shows", async () => {
    placeProgram();
    const ran = runCommand(
      ["check", "--plugin-timeout", "60s", "--config", "examples/embedded/gateway.yaml"],
      folder,
    );
    expect(`${(await ran.ended).code} ${ran.stderr}${ran.stdout}`).toMatch(/^0 ok: /);
    for (const commands of shownIn(readmeOf("embedded"))) await expectShown(commands);
  });

  it("is started as docs/embedding.md shows, with a plugin of the program too, and leaves no file", async () => {
    placeProgram();
    const page = readFileSync(join(ROOT, "docs/embedding.md"), "utf8");
    const [small = "", withPlugin = ""] = [...page.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(
      ([, program = ""]) => program,
    );
    const run = (program: string) => {
      writeFileSync(join(folder, "program.ts"), program);
      const env = environmentOf({ TMPDIR: folder });
      return promisify(execFile)(process.execPath, ["program.ts"], {
        cwd: folder,
        env,
        timeout: 60_000,
      });
    };
    const said = await run(small);
    expect(said.stderr).toBe("");
    expect(said.stdout).toMatch(/^200 \{.*"content":"Hello"/);
    expect(await run(withPlugin)).toEqual({ stdout: "200 hello\n", stderr: "" });
    expect(existsSync(join(folder, "data"))).toBe(true);
    expect(globSync("sluice-config-*", { cwd: folder })).toEqual([]);
  });

  it("throws the findings of a faulty configuration and leaves nothing open", async () => {
    placeProgram();
    const program = `import { ConfigError, startGateway } from "@sluice/engine";
      const signals = process.eventNames().length;
      await startGateway({ config: { gateway: { version: 1, models: 3 }, pipelines: {} } }).catch((error) => {
        console.log(error instanceof ConfigError, error.findings.length > 0, process.eventNames().length === signals);
      });`;
    writeFileSync(join(folder, "faulty.js"), program);
    const env = environmentOf({ TMPDIR: folder });
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ["faulty.js"], {
      cwd: folder,
      env,
      timeout: 60_000,
    });
    expect([stdout, stderr]).toEqual(["true true true\n", ""]);
    expect(globSync("sluice-config-*", { cwd: folder })).toEqual([]);
  });
});

describe("the example litellm-migration", () => {
  it("imports as its README shows, and what it imports serves", async () => {
    place();
    const [imported = [], listed = []] = shownIn(readmeOf("litellm-migration"));
    await expectShown(imported);
    const upstream = await createUpstream();
    try {
      const environment = { LOCAL_API_BASE: upstream.baseUrl, LOCAL_API_KEY: "any" };
      await start(join(folder, "data/imported/config/gateway.yaml"), environment);
      await expectShown(listed);
      const masterKey = readFileSync(join(folder, "data/master.key"), "utf8").trim();
      for (const model of ["assistant", "claude"]) {
        const headers = { authorization: `Bearer ${masterKey}` };
        const reply = await chat(
          gateway as GatewayProcess,
          { model, messages: MESSAGES },
          { headers },
        );
        expect(reply.status).toBe(200);
      }
      expect(upstream.requests.map(({ parsed }) => parsed?.["model"])).toEqual(["large", "large"]);
    } finally {
      await upstream.close();
    }
  });
});

describe("the README of the repository", () => {
  it("shows the first request as it is answered, and a first edit that applies", async () => {
    folder = mkdtempSync(join(tmpdir(), "sluice-readme-"));
    for (const name of ["config", "pipelines"])
      cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    const readme = readFileSync(join(ROOT, "README.md"), "utf8");
    const configPath = join(folder, "config/gateway.yaml");
    await start(configPath);
    const commands = shownIn(readme).flat();
    expect(commands.length).toBeGreaterThan(0);
    await expectShown(commands);

    const [, model = ""] =
      /^While the gateway runs, add `(\{.+?\})` under `models:`/m.exec(readme) ?? [];
    const config = readFileSync(configPath, "utf8");
    writeFileSync(`${configPath}.new`, config.replace(/^models:$/m, `models:\n  - ${model}`));
    renameSync(`${configPath}.new`, configPath);
    const headers = {
      authorization: `Bearer ${readFileSync(join(folder, "data/master.key"), "utf8").trim()}`,
    };
    await eventually("the edit to apply", async () => {
      const reply = await chat(
        gateway as GatewayProcess,
        { model: "my-echo", messages: MESSAGES },
        { headers },
      );
      await reply.text();
      return reply.status === 200;
    });
  });
});
