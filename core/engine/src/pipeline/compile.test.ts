import { describe, expect, it } from "vitest";
import { jsonReply } from "@sluice/kit";
import { fakeExchange, fakeHost } from "@sluice/testing";
import { checkPipelines, compilePipelines } from "./compile.ts";
import {
  line,
  modelOf,
  pipelineOf,
  providerOf,
  snapshotOf,
  stepOf,
  stepsOf,
} from "./snapshot.fixture.ts";

const seen: unknown[] = [];
const definitions = stepsOf(
  stepOf("shout", {
    create: (config: unknown, host) => ({
      run: async (_ctx, next) => {
        seen.push([config, host.generation]);
        await next();
      },
    }),
  }),
  stepOf("answer", {
    traits: { terminal: true },
    create: () => ({
      run: async ({ exchange }) => void (exchange.reply = jsonReply({ ok: true })),
    }),
  }),
);

describe("compilePipelines", () => {
  const routes = [
    { method: "POST", path: "/v1/chat/completions", at: line(3) },
    { method: "POST", path: "/chat/{id}", at: line(3) },
  ];
  const snapshot = snapshotOf({
    pipelines: [
      pipelineOf([{ use: "shout", options: { loud: true } }, "answer"], {
        routes,
        deadlineMs: 1_234,
      }),
      pipelineOf(["answer"], {
        name: "other",
        routes: [{ method: "GET", path: "/other", at: line(1) }],
      }),
    ],
  });
  const compiled = compilePipelines(snapshot, definitions, () => fakeHost({ generation: 7 }));

  it("makes one function for all routes of a pipeline", () => {
    const first = compiled.routes.find("POST", "/v1/chat/completions");
    const second = compiled.routes.find("POST", "/chat/7");
    expect(first).toMatchObject({
      kind: "found",
      value: { pipeline: "chat", operation: "chat", deadlineMs: 1_234 },
    });
    expect(second).toMatchObject({ kind: "found", parameters: { id: "7" } });
    const runs = [first, second].map((match) =>
      match.kind === "found" ? match.value.run : undefined,
    );
    expect(runs[0]).toBeDefined();
    expect(runs[0]).toBe(runs[1]);
  });

  it("makes each use of a step its own instance, with its own options and host", async () => {
    expect(
      compiled.instances.map(({ settings, pipeline }) => `${pipeline}/${settings.use}`),
    ).toEqual(["chat/shout", "chat/answer", "other/answer"]);
    const match = compiled.routes.find("POST", "/v1/chat/completions");
    const exchange = fakeExchange();
    seen.length = 0;
    if (match.kind === "found") await match.value.run({ exchange });
    expect(exchange.reply).toMatchObject({ kind: "whole" });
    expect(seen).toEqual([[{ loud: true }, 7]]);
  });

  it("refuses a step that no plugin provides", () => {
    const unknown = snapshotOf({ pipelines: [pipelineOf(["absent"])] });
    expect(() => compilePipelines(unknown, definitions, () => fakeHost())).toThrow(
      "No plugin provides the step absent.",
    );
  });
});

describe("checkPipelines", () => {
  it("collects the faults of every pipeline and creates nothing", () => {
    const never = stepOf("never", {
      create: () => {
        throw new Error("created");
      },
    });
    expect(
      checkPipelines([pipelineOf(["never"]), pipelineOf(["never"], { name: "b" })], stepsOf(never)),
    ).toHaveLength(2);
  });

  it("looks for what steps name, where it is known what there is", () => {
    const naming = stepOf("naming", {
      inspect: () => ({
        guardrails: { input: ["pii"], output: [], stream: "hold" },
        names: [
          { kind: "provider", name: "opeani" },
          { kind: "provider", name: "openai" },
          { kind: "model", name: "wild/one" },
          { kind: "asked_model", name: "wild/one" },
          { kind: "model", name: "wild/*" },
        ],
      }),
    });
    const pipelines = [pipelineOf(["naming"])];
    const known = snapshotOf({
      providers: [providerOf("openai")],
      models: [modelOf("wild/*", [])],
    });
    const about = (findings: ReturnType<typeof checkPipelines>) =>
      findings
        .filter(({ message }) => message.includes("names"))
        .map(({ message, fix }) => `${message} ${fix}`);
    expect(about(checkPipelines(pipelines, stepsOf(naming), known))).toEqual([
      expect.stringMatching(/^The step names the guardrail "pii"/),
      'The step naming names the provider "opeani", which is not under `providers` of gateway.yaml. did you mean `openai`?',
      expect.stringMatching(
        /^The step naming names the model "wild\/one", which is not under `models` of gateway.yaml\. /,
      ),
    ]);
    expect(about(checkPipelines(pipelines, stepsOf(naming)))).toEqual([]);
  });
});
