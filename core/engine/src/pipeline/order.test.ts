import { describe, expect, it } from "vitest";
import { checkOrder } from "./order.ts";
import { line, pipelineOf, stepOf, stepsOf } from "./snapshot.fixture.ts";

const steps = stepsOf(
  stepOf("auth", { order: { provides: ["identity"] } }),
  stepOf("sso", { order: { provides: ["identity"] } }),
  stepOf("cost", {
    order: {
      requires: [{ capability: "identity", reason: "a spend row belongs to a key" }],
      before: [{ capability: "cached_reply", reason: "a cached reply would pass it by" }],
    },
  }),
  stepOf("cache", { order: { provides: ["cached_reply"] } }),
  stepOf("vault", { order: { requires: [{ capability: "seal", reason: "it must be sealed" }] } }),
  stepOf("provider", { traits: { terminal: true }, operations: ["chat", "embeddings"] }),
);

function findingsOf(...names: readonly string[]): { line: number; text: string }[] {
  return checkOrder(pipelineOf(names), steps).map(({ at, message, fix }) => ({
    line: at.line,
    text: `${message} ${fix}`,
  }));
}

describe("the order of steps", () => {
  it.each([[["auth", "cost", "cache", "provider"]], [["sso", "cost", "provider"]], [["provider"]]])(
    "accepts %j",
    (names) => {
      expect(findingsOf(...names)).toEqual([]);
    },
  );

  it("refuses a step without what it requires, with the reason and both remedies", () => {
    expect(findingsOf("cost", "auth", "provider")).toEqual([
      {
        line: 10,
        text: "Step cost needs auth or sso before it: a spend row belongs to a key. Put auth or sso before cost in the list.",
      },
    ]);
  });

  it("names the capability when no plugin provides it", () => {
    expect(findingsOf("vault", "provider")[0]?.text).toContain(
      "needs a step that provides seal before it",
    );
  });

  it("refuses a step after one that it must come before", () => {
    expect(findingsOf("auth", "cache", "cost", "provider")).toEqual([
      {
        line: 12,
        text: "Step cost must come before cache: a cached reply would pass it by. Move cost before cache in the list.",
      },
    ]);
  });

  it("refuses steps behind a terminal one", () => {
    const findings = findingsOf("auth", "provider", "cost", "cache");
    expect(findings[0]).toEqual({
      line: 12,
      text: "Step cost never runs: provider before it ends the pipeline. Move cost before provider, or remove it.",
    });
  });

  it("refuses a list that nothing ends", () => {
    expect(findingsOf("auth", "cost").map(({ text }) => text)).toEqual([
      "Nothing answers: the last step of pipeline chat is not a terminal one. End the list with a terminal step, `provider` for example.",
    ]);
    expect(checkOrder(pipelineOf([]), steps)).toMatchObject([{ at: line(1) }]);
  });

  it("refuses a step that cannot serve the operation", () => {
    const findings = checkOrder(pipelineOf(["provider"], { operation: "spend" }), steps);
    expect(findings).toMatchObject([
      { at: line(10), message: "Step provider cannot serve the operation spend." },
    ]);
    expect(findings[0]?.fix).toContain("chat, embeddings");
  });

  it("refuses a step twice with the same options, and accepts it with others", () => {
    expect(findingsOf("auth", "cache", "cache", "provider")).toMatchObject([{ line: 12 }]);
    const different = pipelineOf([
      { use: "cache", options: { ttl: 1 } },
      { use: "cache", options: { ttl: 2 } },
      "provider",
    ]);
    expect(checkOrder(different, steps)).toEqual([]);
  });

  it("leaves unknown steps to others, who say that they are unknown", () => {
    expect(findingsOf("auth", "unknown")).toEqual([]);
  });

  it("collects every fault", () => {
    expect(findingsOf("cost", "provider", "provider", "vault").length).toBeGreaterThanOrEqual(5);
  });
});
