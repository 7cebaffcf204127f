import type { JsonObject } from "@sluice/contract";
import { describe, expect, it } from "vitest";
import { complete, type CompletionParts } from "./complete.ts";

const step = (name: string, options: JsonObject): JsonObject => ({
  if: { required: ["use"], properties: { use: { const: name } } },
  // oxlint-disable-next-line unicorn/no-thenable -- `then` is JSON Schema's own word.
  then: { properties: { with: { type: "object", properties: options } } },
});
const PIPELINE: JsonObject = {
  type: "object",
  required: ["version", "steps"],
  properties: {
    version: { const: 1, description: "The version." },
    deadline: { type: "string", default: "600s", description: "The longest time." },
    steps: {
      type: "array",
      items: {
        anyOf: [
          { oneOf: [{ const: "auth", description: "Checks the key." }, { const: "cache" }] },
          {
            type: "object",
            properties: {
              use: { type: "string", enum: ["auth", "cache"] },
              when: { type: "object", properties: { model: { type: ["string", "array"] } } },
            },
            allOf: [
              step("cache", {
                mode: { enum: ["always", "on_request"], description: "What is kept." },
                ttl: { type: "string" },
              }),
            ],
          },
        ],
      },
    },
  },
};
const PARTS: CompletionParts = {
  kind: "pipeline",
  schema: PIPELINE,
  gateway: { models: [{ id: "gpt-4o" }, { id: "openai/*" }] },
  references: [{ written: "${env:TTL}", isSet: false }],
};

/** Completes at the mark. */
function at(marked: string, parts = PARTS) {
  const offset = marked.indexOf("|");
  const text = marked.replace("|", "");
  const { completions, from, to, help } = complete(text, offset, parts);
  return {
    labels: completions.map(({ label }) => label),
    word: text.slice(from, to),
    help,
    completions,
  };
}

describe("completions", () => {
  it("are the keys of a map that it does not have yet", () => {
    expect(at("version: 1\n|\nsteps:\n  - auth\n").labels).toEqual(["deadline"]);
    expect(at("version: 1\nde|\nsteps:\n  - auth\n")).toMatchObject({
      labels: ["deadline"],
      word: "de",
    });
    expect(at("|").labels).toEqual(["version", "deadline", "steps"]);
  });

  it("are words and keys at an entry of a list", () => {
    expect(at("steps:\n  - au|\n").labels).toEqual(["auth"]);
    expect(at("steps:\n  - |\n  - auth\n").labels).toEqual(["auth", "cache", "use", "when"]);
  });

  it("follow the chosen step, also in a line that is not finished", () => {
    expect(at("steps:\n  - { use: cache, with: { mode: | } }\n").labels).toEqual([
      "always",
      "on_request",
    ]);
    expect(at("steps:\n  - { use: cache, with: { mode: al|\n  - auth\n").labels).toEqual([
      "always",
    ]);
    expect(at("steps:\n  - use: cache\n    with:\n      |\n").labels).toEqual(["mode", "ttl"]);
    expect(at("steps:\n  - use: auth\n    with:\n      |\n").labels).toEqual([]);
  });

  it("are names of the files, quoted where YAML needs it, and references with their state", () => {
    const { completions } = at("steps:\n  - { use: cache, when: { model: [|] } }\n");
    expect(completions.map(({ insert, detail }) => [insert, detail])).toEqual([
      ["gpt-4o", "model"],
      ["openai/*", "model"],
    ]);
    expect(at('steps:\n  - { use: cache, with: { ttl: "${e|}" } }\n')).toMatchObject({
      word: "${e}",
      completions: [{ insert: "${env:TTL}", detail: "not set" }],
    });
  });

  it("are none in comments and long texts", () => {
    expect(at("version: 1 # de|\n").labels).toEqual([]);
    expect(at("note: |\n  de".replace("|", ">").concat("|\n")).labels).toEqual([]);
  });
});

describe("help", () => {
  it("is what the schema says of a key, and of a word that has a meaning of its own", () => {
    expect(at("dead|line: 3s\n").help).toMatchObject({
      title: "deadline",
      about: "The longest time.",
      preset: '"600s"',
    });
    expect(at("steps:\n  - au|th\n").help).toMatchObject({
      title: "auth",
      about: "Checks the key.",
    });
    expect(at("unknown|: 1\n").help).toBeNull();
  });
});
