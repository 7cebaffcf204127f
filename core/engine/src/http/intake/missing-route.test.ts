import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CompiledRoute } from "../../pipeline/compile.ts";
import { RouteTable } from "../../pipeline/routes.ts";
import { missingRoute, SHIPPED_ROUTES } from "./missing-route.ts";
import { nearRoute } from "./near-route.ts";
import { clientHint } from "./other-listener.ts";

const natives = [
  {
    name: "oa",
    native: {
      root: "",
      endpoints: [{ path: "v1/batches", model: "body", usage: "text" } as const],
    },
  },
  {
    name: "an",
    native: {
      root: "",
      endpoints: [{ path: "v1/messages", model: "body", usage: "text" } as const],
    },
  },
  { name: "none", native: { root: "" } },
];

describe("the refusal of a path that does not exist", () => {
  it("names the native address of each provider that declares it, to authenticated clients", () => {
    expect(missingRoute({ path: "/v1/batches", method: "POST", natives }).message).toContain(
      "under its name: /oa/v1/batches.",
    );
    expect(missingRoute({ path: "/messages", method: "POST", natives }).message).toContain(
      "/an/v1/messages.",
    );
    expect(missingRoute({ path: "/v1/batches", natives }).message).toBe(
      "This path does not exist.",
    );
    expect(missingRoute({ path: "/v1/batches" }).message).toBe("This path does not exist.");
  });

  it("names the admin listener, the health checks and the pipeline that is not there", () => {
    expect(missingRoute({ path: "/key/generate" }).message).toContain("admin listener");
    expect(missingRoute({ path: "/health/liveliness" }).message).toContain("/health/live");
    expect(missingRoute({ path: "/v1/model/info" }).message).toContain("pipelines/model-info.yaml");
    expect(missingRoute({ path: "/v1/models/a/b" }).message).toContain("pipelines/models.yaml");
    expect(missingRoute({ path: "/keys" }).message).toBe("This path does not exist.");
  });

  it("names every shipped pipeline with routes of its own", () => {
    const files = readdirSync(join(import.meta.dirname, "../../../../../pipelines")).filter(
      (name) => name !== "passthrough.yaml",
    );
    const named = new Set(SHIPPED_ROUTES.map(([, file]) => file));
    expect([...named].toSorted()).toEqual(files.toSorted());
  });

  it("names the listener that serves the path", () => {
    for (const path of ["/user/new", "/ui", "/audit", "/fleet", "/spend/summary", "/metrics"])
      expect(missingRoute({ path }).message).toContain("admin listener");
    for (const path of ["/spend/nothing", "/models2", "/users"])
      expect(missingRoute({ path }).message).toBe("This path does not exist.");
    for (const path of ["/v1/messages", "/v1beta/models/m:generateContent", "/health/ready"])
      expect(clientHint(path)).toContain("listener for clients");
    expect(clientHint("/keys")).toBeUndefined();
  });

  it("says what a base address is, and how a route that is off by default is added", () => {
    for (const path of ["/", "/v1", "/v1beta/"])
      expect(missingRoute({ path, method: "POST" }).message).toContain("base address");
    expect(missingRoute({ path: "/healthz" }).message).toContain("/health/live");
    expect(missingRoute({ path: "/v1/completions", method: "POST" }).message).toContain(
      "`{ route: POST /v1/completions, face: completions }`",
    );
  });

  it.each([
    ["/v2/messages", "POST /v1/messages"],
    ["/api/v1/messages", "POST /v1/messages"],
    ["/some/proxy/path/messages", "POST /v1/messages"],
    ["/v1/messages/v1/messages", "POST /v1/messages"],
    ["/v1alpha/models/m:generateContent", "POST /v1beta/models/m:generateContent"],
    [
      "/v1beta1/publishers/google/models/m:generateContent",
      "POST /v1beta/models/m:generateContent",
    ],
    ["/a/b/c/d/e/f/g/messages", undefined],
  ])("knows the route of a base address with another path, %s", (path, near) => {
    const routes = new RouteTable<CompiledRoute>();
    for (const route of ["/v1/messages", "/v1beta/models/{model...}:generateContent"])
      routes.add("POST", route, { operation: "chat" } as CompiledRoute);
    expect(nearRoute(routes, "POST", path)).toBe(near);
  });

  it("names the route of a client whose base address has a version too many or too few", () => {
    const routes = new RouteTable<CompiledRoute>();
    const serve = (path: string) =>
      routes.add("POST", path, { operation: "chat" } as CompiledRoute);
    serve("/v1/messages");
    serve("/v1beta/models/{model...}:generateContent");
    expect(nearRoute(routes, "POST", "/v1/v1/messages")).toBe("POST /v1/messages");
    expect(nearRoute(routes, "POST", "/messages")).toBe("POST /v1/messages");
    expect(nearRoute(routes, "POST", "/v1/models/m:generateContent")).toBe(
      "POST /v1beta/models/m:generateContent",
    );
    expect(nearRoute(routes, "GET", "/messages")).toBeUndefined();
    expect(nearRoute(routes, "POST", "/elsewhere")).toBeUndefined();
    const { message } = missingRoute({ path: "/messages", near: "POST /v1/messages" });
    expect(message).toBe(
      "This path does not exist. This gateway serves POST /v1/messages: correct the base address of the client.",
    );
  });
});
