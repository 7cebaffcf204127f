import { describe, expect, it } from "vitest";
import { Secret } from "@sluice/contract";
import type { Snapshot } from "../../config/snapshot.ts";
import {
  AT,
  line,
  modelOf,
  pipelineOf,
  providerOf,
  snapshotOf,
  stepOf,
  stepsOf,
} from "../../pipeline/snapshot.fixture.ts";
import { isForced, shrinkage } from "./shrink-guard.ts";

const definitions = stepsOf(
  stepOf("auth", { order: { provides: ["identity"] } }),
  stepOf("own-auth", { order: { provides: ["identity"] } }),
  stepOf("limits", { order: { provides: ["budgets"] } }),
  stepOf("guardrails"),
  stepOf("end"),
);

const key = (alias: string) => ({
  alias,
  key: new Secret("env:K", "value"),
  models: [],
  userId: undefined,
  teamId: undefined,
  spendScope: "key" as const,
  tags: [],
  metadata: {},
  guardrails: [],
  at: line(30),
});

const END = { file: "config/gateway.yaml", line: 90, column: 1 };
const file = (hasEndMark: boolean) => ({
  path: "/etc/sluice/gateway.yaml",
  digest: "d",
  hasEndMark,
  end: END,
});

const live = snapshotOf({
  files: [file(true)],
  models: ["a", "b", "c"].map((id) => modelOf(id, [])),
  keys: [key("one"), key("two"), key("three")],
  providers: [providerOf("openai"), providerOf("echo")],
  pipelines: [
    pipelineOf(["auth", "limits", "guardrails", "end"]),
    pipelineOf(["auth", "end"], {
      name: "models",
      routes: [{ method: "GET", path: "/v1/models", at: line(3) }],
    }),
  ],
});

function lost(parts: Partial<Snapshot>) {
  return shrinkage(live, { ...live, digest: "0123456789abcdef", ...parts }, definitions);
}

const messages = (parts: Partial<Snapshot>): string[] => lost(parts).map(({ message }) => message);

describe("the shrink guard", () => {
  it("lets an edit pass that takes little away", () => {
    expect(lost({})).toEqual([]);
    expect(lost({ models: live.models.slice(0, 2), keys: live.keys.slice(0, 2) })).toEqual([]);
    // A renaming of everything, another plugin for the same guard, a route that goes whole, half of
    // the providers.
    expect(lost({ models: ["x", "y", "z"].map((id) => modelOf(id, [])) })).toEqual([]);
    const [chat, models] = live.pipelines;
    expect(
      lost({
        pipelines: [
          chat!,
          pipelineOf(["own-auth", "end"], { name: "models", routes: models!.routes }),
        ],
      }),
    ).toEqual([]);
    expect(lost({ pipelines: [chat!] })).toEqual([]);
    expect(lost({ providers: [providerOf("echo")] })).toEqual([]);
  });

  it.each([
    ["authentication", ["limits", "guardrails", "end"]],
    ["limits", ["auth", "guardrails", "end"]],
    ["guardrails", ["auth", "limits", "end"]],
  ])("stops an edit after which a route lacks %s, at its steps", (guard, steps) => {
    const findings = lost({ pipelines: [pipelineOf(steps), live.pipelines[1]!] });
    expect(findings[0]).toMatchObject({
      at: line(10),
      message: `POST /v1/chat/completions would lose ${guard}.`,
    });
    expect(findings[0]?.fix).toContain("`sluice reload --force 0123456789ab`");
  });

  it("sees a route lose its guards by moving to another pipeline", () => {
    const [chat, models] = live.pipelines;
    const moved = pipelineOf(["auth", "end"], {
      name: "models",
      routes: [...models!.routes, ...chat!.routes],
    });
    expect(messages({ pipelines: [moved] })).toEqual([
      "POST /v1/chat/completions would lose limits.",
      "POST /v1/chat/completions would lose budgets.",
      "POST /v1/chat/completions would lose guardrails.",
    ]);
  });

  it.each<[string, Partial<Snapshot>]>([
    ["2 of 3 models would vanish: a, c.", { models: [modelOf("b", [])] }],
    ["3 of 3 declared keys would vanish: one, two, three.", { keys: [] }],
    ["2 of 2 providers would vanish: openai, echo.", { providers: [] }],
    ["2 of 2 pipelines would vanish: chat, models.", { pipelines: [] }],
  ])("stops more than half: %s", (message, parts) => {
    expect(messages(parts)).toEqual([message]);
  });

  it("stops a file that lost its end mark, at its end", () => {
    expect(lost({ files: [file(false)] })).toMatchObject([
      { at: END, message: expect.stringContaining("end_of_config: true") },
    ]);
    expect(
      shrinkage(
        snapshotOf({ files: [file(false)] }),
        snapshotOf({ files: [file(false)] }),
        definitions,
      ),
    ).toEqual([]);
  });

  it("stops a provider that works from losing its credential, and lets one that never worked stay so", () => {
    const missing = ["${file:key}"];
    expect(
      messages({ providers: [providerOf("openai", { missing }), providerOf("echo")] }),
    ).toEqual([
      "The provider openai works and would become unavailable: ${file:key} does not resolve.",
    ]);
    const without = snapshotOf({ providers: [providerOf("openai", { missing, at: AT })] });
    expect(shrinkage(without, without, definitions)).toEqual([]);
  });

  it("is overruled by the digest, or by as much of it as it shows, and by nothing shorter", () => {
    const candidate = snapshotOf({ digest: "0123456789abcdef" });
    expect(
      ["0123456789abcdef", "0123456789ab", "0123456789AB"].map((given) =>
        isForced(candidate, given),
      ),
    ).toEqual([true, true, true]);
    expect(
      [undefined, "", "0123456789a", "123456789abcdef"].map((given) => isForced(candidate, given)),
    ).toEqual([false, false, false, false]);
  });

  it("finds a route that a shipped pipeline would serve in place of an own one", () => {
    const [chat, models] = live.pipelines;
    if (chat === undefined || models === undefined) throw new Error("the pipelines are missing");
    const gone = lost({ pipelines: [{ ...chat, isShipped: true }, models] });
    expect(gone.map(({ message }) => message)).toEqual([
      "POST /v1/chat/completions would be served by a shipped pipeline, in place of the file that serves it now.",
    ]);
    const shipped = { ...live, pipelines: [{ ...chat, isShipped: true }] };
    expect(shrinkage(shipped, { ...shipped, digest: "1" }, definitions)).toEqual([]);
  });
});
