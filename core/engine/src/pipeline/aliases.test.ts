import { describe, expect, it } from "vitest";
import type { PipelineSettings } from "../config/snapshot.ts";
import { withAliases } from "./aliases.ts";

const at = { file: "pipelines/chat.yaml", line: 3, column: 5 };
const chat = {
  name: "chat",
  routes: [
    { method: "POST", path: "/v1/chat/completions", at },
    { method: "POST", path: "/taken", at },
  ],
} as unknown as PipelineSettings;
const OF = "POST /v1/chat/completions";

function routesOf(
  aliases: Parameters<typeof withAliases>[1],
  faces: readonly string[] = [],
): unknown[] {
  const [pipeline] = withAliases([chat], aliases, (name) => faces.includes(name));
  return (pipeline?.routes ?? []).slice(chat.routes.length);
}

describe("aliases of routes", () => {
  it("stand beside the route that they are of, with its place", () => {
    expect(routesOf([{ route: "POST /chat", of: OF }])).toEqual([
      { method: "POST", path: "/chat", at },
    ]);
    expect(
      routesOf([{ route: "POST /old", of: OF, face: "completions" }], ["completions"]),
    ).toEqual([{ method: "POST", path: "/old", at, face: "completions" }]);
  });

  it("leave out paths that are served, and what has no route or no face", () => {
    expect(
      routesOf([
        { route: "POST /taken", of: OF },
        { route: "POST /chat", of: "POST /nothere" },
        { route: "POST /old", of: OF, face: "completions" },
        { route: "POST /twice", of: OF },
        { route: "POST /twice", of: OF },
      ]),
    ).toEqual([{ method: "POST", path: "/twice", at }]);
  });
});
