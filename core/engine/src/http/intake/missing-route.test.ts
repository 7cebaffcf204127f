import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { missingRoute, SHIPPED_ROUTES } from "./missing-route.ts";

const natives = [
  {
    name: "oa",
    native: {
      root: "",
      endpoints: [{ path: "v1/responses", model: "body", usage: "text" } as const],
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
    expect(missingRoute("/v1/responses", "POST", natives).message).toContain(
      "under its name: /oa/v1/responses.",
    );
    expect(missingRoute("/messages", "POST", natives).message).toContain("/an/v1/messages.");
    expect(missingRoute("/v1/responses", "GET", natives).message).toBe("This path does not exist.");
    expect(missingRoute("/v1/responses").message).toBe("This path does not exist.");
  });

  it("names the admin listener, the health checks and the pipeline that is not there", () => {
    expect(missingRoute("/key/generate").message).toContain("admin listener");
    expect(missingRoute("/health/liveliness").message).toContain("/health/live");
    expect(missingRoute("/v1/model/info").message).toContain("pipelines/model-info.yaml");
    expect(missingRoute("/v1/models/a/b").message).toContain("pipelines/models.yaml");
    expect(missingRoute("/keys").message).toBe("This path does not exist.");
  });

  it("names every shipped pipeline with routes of its own", () => {
    const files = readdirSync(join(import.meta.dirname, "../../../../../pipelines")).filter(
      (name) => name !== "passthrough.yaml",
    );
    expect(SHIPPED_ROUTES.map(([, file]) => file).toSorted()).toEqual(files.toSorted());
  });
});
