import { describe, expect, it } from "vitest";
import { Secret, type StepDefinition } from "@sluice/contract";
import { defineStep } from "@sluice/kit";
import type {
  DeclaredKey,
  DeclaredTeam,
  GuardrailUseSettings,
  Snapshot,
} from "../../config/snapshot.ts";
import { AT, modelOf, pipelineOf, snapshotOf } from "../../pipeline/snapshot.fixture.ts";
import { wouldWidenAccess } from "./widens-access.ts";

const step = (name: string): [string, StepDefinition<never>] => {
  const config = { type: "object", properties: {} } as const;
  const definition = defineStep({
    name,
    stability: "stable",
    summary: "A step.",
    config,
    create: () => ({ run: (_ctx, next) => next() }),
  });
  return [name, definition as StepDefinition<never>];
};
const definitions = new Map(["auth", "limits", "cache", "end"].map(step));
const keyOf = (alias: string, value = alias): DeclaredKey =>
  ({ alias, key: new Secret(`env:${alias}`, value), models: [], at: AT }) as unknown as DeclaredKey;
const teamOf = (id: string, rpm: number): DeclaredTeam =>
  ({ id, rpm, models: [], at: AT }) as unknown as DeclaredTeam;
const guardrailOf = (name: string, mode: string): GuardrailUseSettings =>
  ({
    name,
    use: "words",
    options: {},
    at: AT,
    settings: { mode },
  }) as unknown as GuardrailUseSettings;

const base = {
  models: [modelOf("one", [])],
  keys: [keyOf("ci")],
  guardrails: [guardrailOf("words", "enforce")],
  pipelines: [pipelineOf(["auth", { use: "limits", options: { rpm: 5 } }, "cache", "end"])],
};
/** Why going back from `live` to `target` must not happen by itself. */
const why = (live: Partial<Snapshot>, target: Partial<Snapshot> = {}): string | undefined =>
  wouldWidenAccess(
    snapshotOf({ ...base, ...live }),
    snapshotOf({ ...base, ...target }),
    definitions,
  );

describe("the access that a rollback would widen", () => {
  it("is that of teams that are declared otherwise, or in one of the two alone", () => {
    const [now, then] = [teamOf("t", 1), teamOf("t", 2)];
    expect(why({ teams: [now] }, { teams: [now] })).toBeUndefined();
    for (const [live, target] of [
      [[now], [then]],
      [[now], []],
      [[], [then]],
    ] as const)
      expect(why({ teams: live }, { teams: target })).toBe("would change the teams t");
  });

  it("is nothing when the edit added or redirected, or changed an unused guardrail", () => {
    expect(why({})).toBeUndefined();
    expect(
      why({ models: [modelOf("one", []), modelOf("two", [])], keys: [keyOf("ci"), keyOf("cd")] }),
    ).toBeUndefined();
    expect(
      why({ pipelines: [pipelineOf(["auth", { use: "limits", options: { rpm: 5 } }, "end"])] }),
    ).toBeUndefined();
    expect(
      why(
        { guardrails: [...base.guardrails] },
        { guardrails: [...base.guardrails, guardrailOf("pii", "enforce")] },
      ),
    ).toBeUndefined();
  });

  it("is a model, a group or a key that the edit removed, and the old value of a changed one", () => {
    expect(why({ models: [] })).toBe("would open the models one");
    expect(why({ models: [{ ...modelOf("one", []), accessGroups: ["few"] }] })).toBe(
      "would open the models one",
    );
    expect(why({ keys: [] })).toBe("would open the keys ci");
    expect(why({ keys: [keyOf("ci", "another")] })).toBe("would open the keys ci");
  });

  it("is a guardrail or policy that the edit added or changed", () => {
    const more = [...base.guardrails, guardrailOf("pii", "enforce")];
    expect(why({ guardrails: more })).toBe("has not the guardrails pii as they are now");
    expect(why({}, { guardrails: [guardrailOf("words", "shadow")] })).toBe(
      "has not the guardrails words as they are now",
    );
    expect(why({ policies: { require: [] } as never })).toBe("has other policies");
  });

  it("is a route that had other guardrails, or that the edit removed", () => {
    const routes = "POST /v1/chat/completions";
    expect(
      why({ pipelines: [pipelineOf(["auth", { use: "limits", options: { rpm: 1 } }, "end"])] }),
    ).toBe(`would guard otherwise: ${routes}`);
    expect(why({}, { pipelines: [pipelineOf(["auth", "end"])] })).toBe(
      `would guard otherwise: ${routes}`,
    );
    expect(why({ pipelines: [] })).toBe(`would guard otherwise: ${routes}`);
  });
});
