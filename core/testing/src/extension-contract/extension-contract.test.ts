import { describe, expect, it } from "vitest";
import type { Extension } from "@sluice/contract";
import { defineExtension } from "@sluice/kit";
import { extensionContract } from "./extension-contract.ts";

/** The names of the tests that an extension fails. */
function failures(extension: Extension): readonly string[] {
  const failed: string[] = [];
  extensionContract(
    {
      describe: (_name, define) => define(),
      it: (name, run) => {
        try {
          run();
        } catch {
          failed.push(name);
        }
      },
    },
    defineExtension<object>({
      name: "tried",
      stability: "experimental",
      summary: "Is tried.",
      config: { type: "object", properties: {} },
      create: () => extension,
    }),
    { config: {}, fields: ["a", "timeout"], headers: ["x-a"] },
  );
  return failed;
}

const handler = () => ({ status: 200, body: null });

describe("the contract of extensions", () => {
  it("passes one that does nothing, and one that keeps it", () => {
    expect(failures({})).toEqual([]);
    expect(
      failures({
        read: ({ body }) => (body.timeout === undefined ? undefined : { fields: { timeout: 1 } }),
        headers: () => ({ "x-a": "b" }),
        error: () => ({ status: 422 }),
        routes: [{ listener: "public", method: "GET", path: "/a/{b}", access: "open", handler }],
      }),
    ).toEqual([]);
  });

  it.each<[string, Extension]>([
    [
      "has routes and aliases that can be served",
      { routes: [{ listener: "admin", method: "GET", path: "/a", access: "open", handler }] },
    ],
    ["has routes and aliases that can be served", { aliases: [{ route: "a", of: "POST /b" }] }],
    ["leaves a plain request as it is", { read: () => ({ tags: ["a"] }) }],
    [
      "reads odd values, or refuses them",
      { read: ({ body }) => (body.a === undefined ? undefined : { taken: ["messages"] }) },
    ],
    [
      "reads odd values, or refuses them",
      { read: ({ body }) => (body.a === undefined ? undefined : { fields: { guardrails: [] } }) },
    ],
    [
      "reads odd values, or refuses them",
      {
        read({ body }) {
          if (body.a === 0.1) throw new TypeError("It is no text.");
          return undefined;
        },
      },
    ],
    [
      "writes headers that can be sent, for every reply",
      { headers: () => ({ "x-sluice-cost": "0" }) },
    ],
    ["keeps the status of a failure, for every error", { error: () => ({ status: 200 }) }],
  ])("fails one that breaks: %s", (name, extension) => {
    expect(failures(extension)).toEqual([name]);
  });
});
