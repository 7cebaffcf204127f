import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { ClientRequest, JsonObject } from "@sluice/contract";
import { documentOf } from "@sluice/kit";
import { describe, expect, it } from "vitest";
import { receiveChat } from "./chat.ts";

const ROOT = resolve(import.meta.dirname, "../../../../../..");
const CLIENT: ClientRequest = {
  method: "POST",
  path: "/v1/chat/completions",
  query: "",
  parameters: {},
  header: () => undefined,
  address: null,
};

interface Case {
  readonly name: string;
  readonly expected: { readonly body?: JsonObject };
}

/** What the faces of this repository make of requests: their fixtures. */
const bodies = globSync("plugins/face-*/fixtures/*.cases.json", { cwd: ROOT }).flatMap((path) => {
  const { cases } = JSON.parse(readFileSync(join(ROOT, path), "utf8")) as { cases: Case[] };
  return cases.flatMap(({ name, expected }) =>
    name.startsWith("request") && expected.body !== undefined
      ? [
          [
            `${basename(dirname(dirname(path)))}, ${basename(path)}, ${name}`,
            expected.body,
          ] as const,
        ]
      : [],
  );
});

describe("requests that faces make", () => {
  it("are many", () => {
    expect(bodies.length).toBeGreaterThan(60);
  });

  it.each(bodies)("pass the check of a chat request: %s", (_, body) => {
    expect(() => receiveChat(documentOf(JSON.stringify(body)), CLIENT)).not.toThrow();
  });
});
