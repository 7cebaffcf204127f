import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

interface Loaded {
  readonly definitions: readonly string[];
  /** The plugins' own names, in the order of the definitions. */
  readonly own: readonly string[];
  readonly versions: readonly (string | undefined)[];
  readonly findings: readonly {
    readonly message: string;
    readonly fix: string;
    readonly at: { readonly line: number };
  }[];
}

const folder = realpathSync(mkdtempSync(join(tmpdir(), "sluice-plugins-")));
const definition = (name: string, rest = ""): string =>
  `export default { kind: "step", name: ${JSON.stringify(name)}, apiVersion: 1, stability: "beta", summary: "A test.", config: { type: "object" }, create: () => ({ run: async () => {} }), ${rest} };\n`;

const KIT = join(import.meta.dirname, "../../../kit/src/index.ts");
const files: Readonly<Record<string, string>> = {
  "shout.ts": `interface Options { readonly loud: boolean }\nconst options: Options = { loud: true };\nvoid options;\n${definition("shout")}`,
  "twice.ts": definition("shout"),
  "broken.ts": "export default {{ nonsense\n",
  "stuck.ts": "await new Promise(() => {});\nexport default {};\n",
  "throws.ts": 'throw new Error("no licence");\n',
  "old.ts": definition("old", "apiVersion: 7"),
  "flat.ts": definition("flat", 'requires: [{ capability: "identity", reason: "a key pays" }]'),
  "nothing.ts": "export const x = 1;\n",
  "half.ts": 'export default { kind: "step", apiVersion: 1, name: "half" };\n',
  "folder/src/index.ts": definition("folder"),
  "imports.ts": 'import part from "./part.ts";\nexport default part;\n',
  "part.ts": 'import "./absent.ts";\nexport default {};\n',
  "spaced.ts": `import { defineGuardrail } from ${JSON.stringify(KIT)};\nexport default defineGuardrail({ name: "no shouting" });\n`,
  "sampleless.ts": definition("sampleless").replace('"step"', '"guardrail"'),
  "strange.ts": 'export default { kind: "gadget", apiVersion: 1 };\n',
  "node_modules/acme/package.json":
    '{"name":"acme","version":"2.3.4","type":"module","exports":"./index.js"}',
  "node_modules/acme/index.js": `${definition("one").replace("export default", "const one =")}export default [one, { ...one, kind: "provider", name: "two" }];\n`,
  "node_modules/voice/package.json":
    '{"name":"voice","version":"2.0.0","type":"module","exports":"./index.js"}',
  "node_modules/voice/index.js": definition("voice"),
  "node_modules/voice-old/package.json":
    '{"name":"voice","version":"1.4.0","type":"module","exports":"./index.js"}',
  "node_modules/voice-old/index.js": definition("voice"),
  "node_modules/Voice_2/package.json":
    '{"name":"voice","version":"1.0.0","type":"module","exports":"./index.js"}',
  "node_modules/Voice_2/index.js": definition("voice"),
  "node_modules/@old/acme/package.json":
    '{"name":"acme","version":"1.0.0","type":"module","exports":"./index.js"}',
  "node_modules/@old/acme/index.js": `${definition("one").replace("export default", "const one =")}export default [one, { ...one, kind: "provider", name: "two" }];\n`,
};

/** Loads in a process of its own: as Node does, and not as the test runner would. */
function load(...specifiers: readonly string[]): Loaded {
  return loadWithin(undefined, ...specifiers);
}

function loadWithin(timeoutMs: number | undefined, ...specifiers: readonly string[]): Loaded {
  // Positions name the file relative to the folder of the start.
  const at = { file: "gateway.yaml", line: 1, column: 1 };
  const references = specifiers.map((specifier, index) => ({
    specifier,
    from: join(folder, "gateway.yaml"),
    at: { ...at, line: index + 1 },
  }));
  const script = `
    import { loadPlugins } from ${JSON.stringify(join(import.meta.dirname, "load.ts"))};
    const { definitions, findings } = await loadPlugins(${JSON.stringify(references)}, [], ${timeoutMs});
    console.log(JSON.stringify({ definitions: [...definitions.all.keys()], own: [...definitions.all.values()].map(({ kind, name }) => definitions.ownName(kind, name)), versions: definitions.plugins.map(({ version }) => version ?? null), findings }));`;
  const run = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
    encoding: "utf8",
    cwd: import.meta.dirname,
  });
  if (run.status !== 0) throw new Error(run.stderr);
  return JSON.parse(run.stdout) as Loaded;
}

beforeAll(() => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe("loading plugins", () => {
  it("takes a file outside the repository, a package beside the configuration, and one beside the engine", () => {
    const { definitions, versions, findings } = load(
      "./shout.ts",
      "acme@^2.0.0",
      "@sluice/standard@^1.0.0",
    );
    expect(findings).toEqual([]);
    expect(definitions).toEqual(
      expect.arrayContaining([
        "step/shout",
        "step/one",
        "provider/two",
        "step/auth",
        "step/provider",
      ]),
    );
    expect(versions).toEqual([null, "2.3.4", "1.0.0"]);
  });

  it("says of every entry that fails what is wrong and what to do, and loads the others", () => {
    const wrong = [
      "acme@^3.0.0",
      "acme@new",
      "absent",
      "./absent.ts",
      "./broken.ts",
      "./throws.ts",
      "./old.ts",
      "./flat.ts",
      "./nothing.ts",
      "./half.ts",
      "./strange.ts",
      "./twice.ts",
      "./folder",
      "./shout",
      "shout.ts",
      "./imports.ts",
      "./spaced.ts",
      "./sampleless.ts",
    ];
    const { definitions, findings } = load("./shout.ts", ...wrong);
    expect(definitions).toEqual(["step/shout"]);
    expect(findings.map(({ at }) => at.line)).toEqual(wrong.map((_, index) => index + 2));
    const said = new Map(
      findings.map(({ at, message, fix }) => [wrong[at.line - 2], `${message} ${fix}`]),
    );
    expect(said.get("acme@^3.0.0")).toBe(
      "Plugin acme is installed as 2.3.4, but the configuration needs ^3.0.0. Install acme@^3.0.0, or write ^2.3.4.",
    );
    expect(said.get("acme@new")).toContain('"new" of plugin acme@new is not a version range.');
    expect(said.get("absent")).toContain("Plugin absent is not installed. Run npm install absent");
    expect(said.get("./absent.ts")).toContain(
      `does not exist. Create ${join(folder, "absent.ts")}`,
    );
    expect(said.get("./broken.ts")).toMatch(
      /^Plugin \.\/broken\.ts cannot be loaded: .+ Correct .+broken\.ts:1:\d+\.$/s,
    );
    expect(said.get("./throws.ts")).toContain("cannot be loaded: no licence");
    expect(said.get("./old.ts")).toContain(
      "is written for apiVersion 7, but this engine supports 1.",
    );
    expect(said.get("./flat.ts")).toBe(
      "`requires` of step flat in plugin ./flat.ts stands outside `order`, where it has no effect. Move it into `order`.",
    );
    expect(said.get("./nothing.ts")).toContain("is not a definition");
    expect(said.get("./half.ts")).toContain("has no name, config or create");
    expect(said.get("./strange.ts")).toContain("is not a definition");
    expect(said.get("./twice.ts")).toContain(
      "The step shout is provided twice, by ./shout.ts and by ./twice.ts.",
    );
    expect(said.get("./folder")).toBe(
      "Plugin ./folder is a folder. Name its file: ./folder/src/index.ts.",
    );
    expect(said.get("./shout")).toBe("Plugin file ./shout does not exist. Write ./shout.ts.");
    expect(said.get("shout.ts")).toContain("Write ./shout.ts for a file beside this one.");
    // The place is the author's file, and none of the gateway's.
    expect(said.get("./imports.ts")).toMatch(/Correct \S+\/part\.ts\.$/);
    expect(said.get("./spaced.ts")).toMatch(/Correct \S+\/spaced\.ts:2:\d+\.$/);
    expect(said.get("./sampleless.ts")).toContain("has no `sample`");
  });

  it("has no second finding for an entry that is written twice", () => {
    expect(load("./shout.ts", "./shout.ts").findings).toEqual([]);
  });

  it("has a finding, and not a hang, for one that never finishes loading; the others are loaded", () => {
    const { findings, definitions } = loadWithin(100, "./stuck.ts", "./shout.ts");
    expect(findings.map(({ message }) => message)).toEqual([
      "Plugin ./stuck.ts cannot be loaded: it was not ready within 100 ms",
    ]);
    expect(definitions).toContain("step/shout");
  });

  it("takes two versions of one plugin side by side, the one under the name that npm installed it as", () => {
    const { definitions, own, versions, findings } = load(
      "voice@^2.0.0",
      "voice-old@^1.2.0",
      "@old/acme@1.x",
      "acme",
    );
    expect(findings).toEqual([]);
    expect(definitions).toEqual([
      "step/voice",
      "step/voice-old",
      "step/acme-one",
      "provider/acme-two",
      "step/one",
      "provider/two",
    ]);
    expect(own).toEqual(["voice", "voice", "one", "two", "one", "two"]);
    expect(versions).toEqual(["2.0.0", "1.4.0", "1.0.0", "2.3.4"]);
  });

  it("refuses another version than the one asked for with both numbers, also under an alias, and a name that YAML cannot say", () => {
    const { findings } = load("voice@^1.2.0", "voice-old@^2.0.0", "Voice_2");
    expect(findings.map(({ message }) => message)).toEqual([
      "Plugin voice is installed as 2.0.0, but the configuration needs ^1.2.0.",
      "Plugin voice-old is installed as 1.4.0, but the configuration needs ^2.0.0.",
      "Plugin Voice_2 is installed under the name Voice_2, which `use` cannot name.",
    ]);
  });
});
