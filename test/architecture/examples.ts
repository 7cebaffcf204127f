/**
 * The YAML of the documents as configurations: a whole file as it is, a part of one within the
 * smallest files that it needs. What a block is, its own keys say; a block with several files has a
 * first line for each, `# pipelines/chat.yaml`.
 */

import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkConfig, formatFinding, withTests } from "@sluice/engine";
import { parse, stringify } from "yaml";
import { ROOT } from "./sources.ts";

/** A block of YAML in a document. */
export interface Example {
  /** Path from the root and line, `docs/pipelines.md:6`. */
  readonly at: string;
  readonly text: string;
  /** The guardrails that its document configures, for a step that names them. */
  readonly guardrails: Section;
}

type Section = Readonly<Record<string, unknown>>;

const BLOCK = /^( *)```ya?ml\n([\s\S]*?)^ *```/gm;
/** The line before each file, in a block of several. */
const FILE_LINE = /^# (?:[\w./-]+\/)?[\w-]+\.yaml$/m;

/** Every block of YAML in a document, each file of a block by itself. */
export function readExamples(path: string): Example[] {
  const document = readFileSync(join(ROOT, path), "utf8");
  const parts = [...document.matchAll(BLOCK)].flatMap(({ index, 1: indent = "", 2: body = "" }) => {
    const line = document.slice(0, index).split("\n").length;
    const text = body.replaceAll(new RegExp(`^${indent}`, "gm"), "");
    const files = text.split(FILE_LINE).filter((file) => file.trim() !== "");
    return files.map((file) => ({ at: `${path}:${line}`, text: file }));
  });
  const named = Object.assign(
    {},
    ...parts.map(({ text }) => (parse(text) as Section).guardrails),
  ) as Record<string, Section>;
  const guardrails = Object.fromEntries(
    Object.entries(named).map(([name, one]) => [name, { ...one, default_on: false }]),
  );
  return parts.map(({ at, text }) => ({ at, text, guardrails }));
}

const PIPELINE_KEYS = new Set([
  "pipeline",
  "routes",
  "operation",
  "deadline",
  "heartbeat",
  "steps",
  "tests",
  "test_budget",
]);
const PIPELINE: Section = {
  version: 1,
  pipeline: "example",
  routes: ["POST /v1/chat/completions"],
  operation: "chat",
};
/** A step of a part takes the place of the one with its name. */
const STEPS: readonly unknown[] = [
  "auth",
  "cost",
  "limits",
  { use: "guardrails", with: { input: ["pii"] } },
  "cache",
  "fallback",
  "balance",
  "retry",
  "provider",
];

/** The files around a part: the shipped plugins, a model with a stand-in, guardrails. */
function surroundings(guardrails: Section): Section {
  const shipped = parse(readFileSync(join(ROOT, "config/gateway.yaml"), "utf8")) as {
    readonly plugins: readonly string[];
  };
  return {
    version: 1,
    server: { host: "127.0.0.1" },
    store: { use: "sqlite" },
    shared: { use: "memory" },
    plugins: [
      ...shipped.plugins,
      "@sluice/store-postgres",
      "../test/fixtures/plugins/my-enrichment.ts",
    ],
    providers: {
      openai: { use: "openai", api_key: "${env:OPENAI_API_KEY}" },
      anthropic: { use: "anthropic", api_key: "${env:ANTHROPIC_API_KEY}" },
    },
    guardrails: { pii: { use: "pii" }, ...guardrails },
    models: [
      {
        id: "gpt-4o-mini",
        targets: [{ provider: "openai", model: "gpt-4o-mini" }],
        fallbacks: { general: ["anthropic/claude-haiku"] },
      },
      {
        id: "anthropic/claude-haiku",
        targets: [{ provider: "anthropic", model: "claude-haiku", price: { input: 1, output: 5 } }],
      },
    ],
  };
}

/** The findings of an example, and of the tests that it holds: lines for people. */
export async function findingsOf({ text, guardrails }: Example): Promise<readonly string[]> {
  const files = filesOf(parse(text), surroundings(guardrails));
  const texts = new Map(
    [...files].map(([name, value]) => [join(ROOT, "example", name), stringify(value)]),
  );
  const source = {
    read: (path: string) => ({ bytes: Buffer.from(texts.get(path) ?? secretOf(path)) }),
    has: (path: string) => texts.has(path) || path === join(ROOT, "example/pipelines"),
    list: () =>
      [...texts.keys()]
        .filter((path) => path.includes("/pipelines/"))
        .map((path) => path.slice(path.lastIndexOf("/") + 1)),
  };
  const checked = await checkConfig({
    path: "example/gateway.yaml",
    cwd: ROOT,
    environment: environmentOf(text),
    source,
  });
  return (await withTests(checked)).findings.map(formatFinding);
}

/** The files that an example makes, by their names beside the gateway file. */
function filesOf(value: unknown, base: Section): Map<string, unknown> {
  const chain = { ...PIPELINE, steps: STEPS };
  if (Array.isArray(value)) return filesAround(base, { ...PIPELINE, steps: withSteps(value) });
  const part = value as Section;
  const keys = Object.keys(part);
  if (keys.some((key) => PIPELINE_KEYS.has(key))) return filesAround(base, { ...chain, ...part });
  if (keys.length === 1 && typeof part.prices === "object") {
    return filesAround(base, chain).set("prices.yaml", { version: 1, ...part });
  }
  return filesAround({ ...base, ...part, ...merged(base, part) }, chain);
}

function filesAround(gateway: Section, pipeline: Section): Map<string, unknown> {
  return new Map<string, unknown>([
    ["gateway.yaml", gateway],
    ["pipelines/example.yaml", pipeline],
  ]);
}

function withSteps(steps: readonly unknown[]): readonly unknown[] {
  const own = new Map(steps.map((step) => [nameOf(step), step]));
  const known = STEPS.map((step) => own.get(nameOf(step)) ?? step);
  const names = new Set(STEPS.map(nameOf));
  return [
    ...known.slice(0, -1),
    ...steps.filter((step) => !names.has(nameOf(step))),
    ...known.slice(-1),
  ];
}

function nameOf(step: unknown): string {
  return typeof step === "string" ? step : String((step as Section).use);
}

/** Sections of which a part has its own members, beside those that the surroundings need. */
function merged(base: Section, part: Section): Section {
  const sections = ["providers", "guardrails"].filter((key) => key in part);
  const members = sections.map((key) => [
    key,
    { ...(base[key] as Section), ...(part[key] as Section) },
  ]);
  const lists = ["models"]
    .filter((key) => key in part)
    .map((key) => [key, [...(part[key] as unknown[]), ...modelsOf(base, part)]]);
  const asked = (part.plugins as readonly string[] | undefined) ?? [];
  const packageOf = (specifier: string): string => specifier.replace(/(?<=.)@.*/, "");
  const own = new Set(asked.map(packageOf));
  const plugins = [
    ...(base.plugins as readonly string[]).filter((one) => !own.has(packageOf(one))),
    ...asked,
  ];
  return { ...Object.fromEntries([...members, ...lists]), plugins };
}

/** The models of the surroundings, but for those that a part has its own of. */
function modelsOf(base: Section, part: Section): readonly unknown[] {
  const own = new Set((part.models as readonly Section[]).map(({ id }) => id));
  return (base.models as readonly Section[]).filter(({ id }) => !own.has(id));
}

/** A value for every variable that a text names. */
function environmentOf(text: string): Record<string, string> {
  const names = [...text.matchAll(/\$\{env:(\w+)/g)].map(([, name = ""]) => name);
  return Object.fromEntries(
    ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", ...names].map((name) => [name, valueOf(name)]),
  );
}

function valueOf(name: string): string {
  if (name.startsWith("REDIS")) return "redis://127.0.0.1:6379";
  if (name.startsWith("DATABASE")) return "postgresql://127.0.0.1:5432/example";
  return /URL|ENDPOINT/.test(name) ? "https://example.com" : "value-of-the-example-0123456789";
}

/** What stands in a file that an example names. */
function secretOf(path: string): string {
  if (!path.endsWith(".json")) return "word-of-the-example";
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const key = privateKey.export({ type: "pkcs8", format: "pem" });
  return JSON.stringify({
    type: "service_account",
    client_email: "a@b.example",
    private_key: key,
    project_id: "example",
  });
}
