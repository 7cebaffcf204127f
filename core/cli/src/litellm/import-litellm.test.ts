import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { checkConfig, type CheckedConfig } from "@sluice/engine/check";
import { formatFinding } from "@sluice/engine/config";
import { type Imported, importLitellm } from "./import-litellm.ts";
import { SHIPPED } from "./pipeline-files.ts";

const ROOT = new URL("../../../../", import.meta.url).pathname;
const FIXTURE = readFileSync(join(ROOT, "test/fixtures/litellm/config.yaml"), "utf8");

let imported: Imported;
let checked: CheckedConfig;
const folder = mkdtempSync(join(tmpdir(), "sluice-import-"));

beforeAll(async () => {
  imported = importLitellm(FIXTURE, "config.yaml");
  for (const [name, text] of Object.entries(imported.files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  checked = await checkConfig({
    path: join(folder, "config/gateway.yaml"),
    cwd: ROOT,
    environment: { OPENAI_API_KEY: "sk-of-the-test", AZURE_API_KEY: "key-of-the-test" },
  });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const model = (id: string) => checked.snapshot?.models.find((other) => other.id === id);
const provider = (name: string | undefined) =>
  checked.snapshot?.providers.find((other) => other.name === name);
/** The import of a few lines. */
const small = (text: string) => importLitellm(text, "c.yaml");

describe("an imported configuration of forty models", () => {
  it("passes sluice check, with all of its models", () => {
    expect(checked.findings.map(formatFinding)).toEqual([]);
    // 41 names in the file without those that no provider serves, two aliases, and echo.
    expect(imported.models).toBeGreaterThanOrEqual(40);
    expect(checked.snapshot?.models).toHaveLength(imported.models + 1);
    expect(checked.snapshot?.models.filter(({ targets }) => targets.length === 0)).toEqual([]);
  });

  it("has one model for entries of one name, weighed by rpm or weight, or in order", () => {
    expect(
      model("gpt-4o")?.targets.map(({ provider: name, model: at, weight, rpm, tpm }) => [
        name,
        at,
        weight ?? 1,
        rpm,
        tpm,
      ]),
    ).toEqual([
      ["openai", "gpt-4o", 3, 600, 200_000],
      ["azure", "gpt-4o-eu", 1, 200, undefined],
      ["azure-2", "gpt-4o-us", 1, 200, undefined],
    ]);
    expect(model("gpt-4o-mini")?.targets.map(({ weight }) => weight)).toEqual([7, 3]);
    expect(model("gpt-4.1")).toMatchObject({
      balance: "priority",
      targets: [{ priority: 1 }, { priority: 2, maxParallel: 10 }],
    });
    expect(model("gpt-4o")).toMatchObject({
      accessGroups: ["large"],
      info: { maxInputTokens: 128_000, supports: { supports_vision: true } },
    });
    expect(model("text-embedding-3-large")?.mode).toBe("embedding");
    expect(model("imagen")?.mode).toBe("image");
    expect(model("llama-groq")?.targets[0]?.price).toMatchObject({
      input: 590_000,
      output: 790_000,
    });
    expect(model("qwen-local")?.targets[0]?.price).toMatchObject({ free: true });
    expect(model("gpt-4")?.targets).toHaveLength(3);
    expect(model("gpt-4o")?.targets.every(({ dropParams }) => dropParams === true)).toBe(true);
  });

  it.each([
    ["openai", { use: "openai" }],
    [
      "azure",
      {
        use: "azure",
        options: {
          endpoint: "https://contoso.openai.azure.com",
          api: "deployments",
          api_version: "2024-10-21",
        },
      },
    ],
    ["vertex", { use: "vertex", options: { project: "contoso-ml", location: "europe-west1" } }],
    [
      "ollama",
      {
        use: "compatible",
        options: { preset: "ollama", base_url: "http://ollama.internal:11434/v1" },
      },
    ],
    [
      "vllm",
      { use: "compatible", options: { preset: "vllm", base_url: "http://vllm.internal:8000/v1" } },
    ],
    [
      "custom",
      {
        use: "compatible",
        options: { preset: "custom", base_url: "https://models.contoso.com/v1" },
      },
    ],
    [
      "cerebras",
      { use: "compatible", options: { preset: "custom", base_url: "https://api.cerebras.ai/v1" } },
    ],
  ])("has the provider %s", (name, expected) => {
    expect(provider(name)).toMatchObject(expected);
  });

  it("finds where a model is, whatever stands before its name", () => {
    expect(model("llama-bedrock")?.targets[0]?.model).toBe("meta.llama3-3-70b-instruct-v1:0");
    expect(provider(model("llama-bedrock")?.targets[0]?.provider)?.options["region"]).toBe(
      "us-west-2",
    );
    expect(model("nova-pro")?.targets[0]?.model).toBe("amazon.nova-pro-v1:0");
    expect(provider(model("claude-haiku")?.targets[0]?.provider)?.use).toBe("anthropic");
    expect(model("llama-together")?.targets[0]?.model).toBe(
      "meta-llama/Llama-3.3-70B-Instruct-Turbo",
    );
    expect(model("openrouter/*")?.targets[0]).toMatchObject({ provider: "openrouter", model: "*" });
    expect(provider(model("gpt-4.1-mini")?.targets[0]?.provider)).toMatchObject({
      timeouts: { firstByteMs: 30_000, streamFirstByteMs: 30_000, firstContentMs: 30_000 },
      options: { organization: "org-contoso" },
    });
    // The same place under a shared credential is the same provider.
    expect(model("shared-credential")?.targets[0]?.provider).toBe("azure");
  });

  it("has a try's timeout at its providers, and no deadline of it (V3)", () => {
    expect(provider("openai")?.timeouts).toMatchObject({
      firstByteMs: 120_000,
      firstContentMs: 120_000,
    });
    const router =
      "model_list:\n  - { model_name: m, litellm_params: { model: openai/m, stream_timeout: 2.5 } }\n";
    const imported = importLitellm(`${router}router_settings: { timeout: 30 }\n`, "config.yaml");
    expect(imported.files["config/gateway.yaml"]).toMatch(
      /first_byte: 30s.*first_content: 2500ms/s,
    );
    expect(imported.files["pipelines/chat.yaml"]).toContain("deadline: 600s");
    expect(imported.notes).toContainEqual(
      expect.objectContaining({ kind: "changed", setting: "router_settings.timeout" }),
    );
  });

  it("has fallbacks, the default ones where a model has none of its own", () => {
    expect(model("gpt-4o")?.fallbacks).toEqual({
      general: ["claude-sonnet", "gemini-pro"],
      context_window: ["gemini-pro"],
      content_policy: ["claude-sonnet"],
    });
    expect(model("grok")?.fallbacks?.general).toEqual(["gpt-4o-mini"]);
    expect(model("gpt-4o-mini")?.fallbacks).toBeUndefined();
  });

  it("has the settings as options of steps", () => {
    const chat = checked.snapshot?.pipelines.find(({ name }) => name === "chat");
    const options = (use: string) => chat?.steps.find((step) => step.use === use)?.options;
    expect(chat?.deadlineMs).toBe(600_000);
    expect(options("retry")).toMatchObject({ attempts: 3 });
    expect(options("fallback")).toMatchObject({ max: 5, max_attempts: 8 });
    expect(options("cache")).toMatchObject({ mode: "always", ttl: "600s", scope: "global" });
    expect(options("balance")).toMatchObject({
      strategy: "least_busy",
      breaker: { consecutive: 4, ejection: "30s" },
    });
    expect(options("limits")).toMatchObject({
      budgets: [{ per: "global", max: 1_000, duration: "30d" }],
      parallel: [{ per: "global", requests: 500 }],
    });
    expect(options("guardrails")).toMatchObject({
      input: ["presidio-pii", "secrets"],
      output: ["presidio-pii"],
      stream: "window",
    });
    expect(checked.snapshot?.server).toMatchObject({
      authHeaders: ["x-contoso-key"],
      maxBodyBytes: 30 * 1024 * 1024,
    });
    expect(checked.snapshot?.guardrails.map(({ name, use }) => [name, use])).toEqual([
      ["presidio-pii", "pii"],
      ["filter-pii", "pii"],
      ["filter-secrets", "secrets"],
      ["filter-words", "words"],
      ["secrets", "secrets"],
    ]);
  });

  it("lists what has no equivalent, with its line and the reason", () => {
    const line = (part: string): number =>
      FIXTURE.split("\n").findIndex((text) => text.includes(part)) + 1;
    const settings = imported.notes.map(({ setting }) => setting);
    expect(settings).toEqual(
      expect.arrayContaining([
        "x-azure",
        "litellm_settings.callbacks",
        "litellm_settings.cache_params.similarity_threshold",
        "router_settings.retry_policy",
        "router_settings.model_group_alias.old",
        "general_settings.master_key",
        "general_settings.alerting",
        "general_settings.made_up_setting",
        "environment_variables",
      ]),
    );
    const said = imported.notes.map((note) => `${note.line} ${note.why}`);
    expect(said).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          new RegExp(`^${line("watsonx/")} no plugin serves watsonx/`),
        ) as string,
        expect.stringMatching(
          new RegExp(`^${line("model_name: whisper")} there is no route for audio_transcription`),
        ) as string,
        expect.stringMatching(
          new RegExp(`^${line("tags: [cheap]")} write \`tags\` at the target`),
        ) as string,
        expect.stringMatching(
          new RegExp(`^${line("lakera_v2")} no plugin does what lakera_v2 does`),
        ) as string,
        expect.stringMatching(
          new RegExp(`^${line("{ gone:")} gone is no model of the list`),
        ) as string,
      ]),
    );
    expect(imported.files["import.md"]).toContain("| `general_settings.master_key` |");
  });

  it("copies no credential", () => {
    const written = Object.values(imported.files).join("\n") + JSON.stringify(imported.notes);
    expect(written).not.toContain("thisisnotarealkey");
    expect(
      provider(imported.files["config/gateway.yaml"]?.match(/^ {2}(\S+): .*OPENAI_API_KEY_1/m)?.[1])
        ?.use,
    ).toBe("openai");
    expect(
      imported.notes.find(({ line }) => FIXTURE.split("\n")[line - 1]?.includes("sk-proj-")),
    ).toMatchObject({
      kind: "todo",
    });
  });
});

describe("an import", () => {
  it("has the routes and steps of the shipped pipelines", () => {
    const files = readdirSync(join(ROOT, "pipelines")).map((file) => file.replace(/\.yaml$/, ""));
    expect(Object.keys(SHIPPED).toSorted()).toEqual(files.toSorted());
    const shipped = Object.keys(SHIPPED).map((name) => {
      const { routes, steps } = parse(
        readFileSync(join(ROOT, `pipelines/${name}.yaml`), "utf8"),
      ) as {
        routes: (string | object)[];
        steps: (string | { use: string })[];
      };
      return [name, routes, steps.map((step) => (typeof step === "string" ? step : step.use))];
    });
    expect(
      Object.entries(SHIPPED).map(([name, { routes, steps }]) => [name, routes, steps]),
    ).toEqual(shipped);
  });

  it("says the line of what is no YAML", () => {
    expect(() => small("model_list:\n  - {a: ")).toThrow(/^line 2: /);
    expect(() => small("just a text")).toThrow("line 1: the file holds no settings");
  });

  it("knows a service with the generic guardrail API, and a moderation", () => {
    const { files } = small(`
guardrails:
  - guardrail_name: bought
    litellm_params: { guardrail: generic_guardrail_api, mode: pre_call, default_on: true, api_base: "https://guard.example.com/beta/litellm_basic_guardrail_api", api_key: os.environ/GUARD_KEY }
  - guardrail_name: mod
    litellm_params: { guardrail: openai_moderation, mode: post_call }
`);
    const { guardrails } = parse(files["config/gateway.yaml"] ?? "") as { guardrails: unknown };
    expect(guardrails).toEqual({
      bought: {
        use: "http",
        dialect: "litellm",
        url: "https://guard.example.com",
        api_key: "${env:GUARD_KEY}",
        sample: "a text that must be denied",
      },
      mod: { use: "moderation", api_key: "${env:OPENAI_API_KEY}", budget_ms: 3_000 },
    });
  });

  it("leaves out stand-ins of another mode, with a word where they were named for the model", () => {
    const { files, notes } = small(`
model_list:
  - { model_name: a, litellm_params: { model: openai/a } }
  - { model_name: b, litellm_params: { model: openai/b } }
  - { model_name: v, litellm_params: { model: openai/v }, model_info: { mode: embedding } }
  - { model_name: w, litellm_params: { model: openai/w }, model_info: { mode: embedding } }
litellm_settings: { default_fallbacks: [b], fallbacks: [{ v: [a, w] }] }
`);
    const { models } = parse(files["config/gateway.yaml"] ?? "") as {
      models: { fallbacks?: { general: unknown } }[];
    };
    expect(models.slice(0, 4).map(({ fallbacks }) => fallbacks?.general)).toEqual([
      ["b"],
      undefined,
      ["w"],
      undefined,
    ]);
    const modeNotes = notes.filter(({ why }) => why.includes("for the mode"));
    expect(modeNotes.map(({ why }) => why)).toContain(
      "the fallback a is for the mode chat, and v for embedding: it could answer nothing",
    );
  });

  it("takes failures of a context window for others where no model has a list for them", () => {
    const { files } = small(`
model_list:
  - { model_name: a, litellm_params: { model: openai/a } }
  - { model_name: b, litellm_params: { model: openai/b } }
router_settings: { fallbacks: [{ a: [b] }] }
`);
    const { models } = parse(files["config/gateway.yaml"] ?? "") as {
      models: { id: string; fallbacks?: unknown }[];
    };
    expect(models[0]?.fallbacks).toEqual({
      general: ["b"],
      context_window: ["b"],
      content_policy: ["b"],
    });
  });
});
