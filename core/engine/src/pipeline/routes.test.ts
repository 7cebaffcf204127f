import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type RouteMatch, RouteTable } from "./routes.ts";

function table(...routes: readonly string[]): RouteTable<string> {
  const made = new RouteTable<string>();
  for (const route of routes) {
    const [method = "", path = ""] = route.split(" ");
    made.add(method, path, route);
  }
  return made;
}

describe("a route table", () => {
  const routes = table(
    "GET /v1/models",
    "POST /v1/chat/completions",
    "GET /v1/models/{id}",
    "DELETE /v1/models/{id}",
    "GET /v1/models/special",
    "POST /openai/{endpoint...}",
    "POST /{provider}/deployments/{deployment...}/chat/completions",
    "POST /v1beta/models/{model...}:countTokens",
    "POST /v1beta/models/{model...}",
  );

  it.each<[string, string, string, Record<string, string>]>([
    ["GET", "/v1/models", "GET /v1/models", {}],
    ["GET", "/v1/models/gpt", "GET /v1/models/{id}", { id: "gpt" }],
    ["DELETE", "/v1/models/gpt", "DELETE /v1/models/{id}", { id: "gpt" }],
    ["GET", "/v1/models/special", "GET /v1/models/special", {}],
    ["POST", "/openai/v1/x/y", "POST /openai/{endpoint...}", { endpoint: "v1/x/y" }],
    ["POST", "/openai/x/", "POST /openai/{endpoint...}", { endpoint: "x/" }],
    [
      "POST",
      "/openai/deployments/a/b/chat/completions",
      "POST /{provider}/deployments/{deployment...}/chat/completions",
      { provider: "openai", deployment: "a/b" },
    ],
    [
      "POST",
      "/v1beta/models/a/b:c:countTokens",
      "POST /v1beta/models/{model...}:countTokens",
      { model: "a/b:c" },
    ],
    [
      "POST",
      "/v1beta/models/a:countTokens:x",
      "POST /v1beta/models/{model...}",
      { model: "a:countTokens:x" },
    ],
    ["GET", "/v1/models/a%2Fb", "GET /v1/models/{id}", { id: "a%2Fb" }],
  ])("finds %s %s", (method, path, value, parameters) => {
    expect(routes.find(method, path)).toEqual({ kind: "found", value, parameters });
  });

  it.each([
    ["GET", "/"],
    ["GET", ""],
    ["GET", "/v2/models"],
    ["GET", "/v1/models/"],
    ["GET", "/V1/models"],
    ["POST", "/openai"],
    ["POST", "/openai/"],
    ["POST", "//x"],
  ])("finds nothing for %s %s", (method, path) => {
    expect(routes.find(method, path)).toEqual({ kind: "none" });
  });

  it("says which methods a path takes", () => {
    expect(routes.find("PUT", "/v1/models/gpt")).toEqual({
      kind: "method",
      allow: ["GET", "DELETE"],
    });
    expect(routes.find("get", "/v1/chat/completions")).toEqual({ kind: "method", allow: ["POST"] });
  });

  it("lets the first path that matches decide, whatever its methods: fixed routes win over wide ones", () => {
    const made = table("POST /{provider}/{rest...}", "GET /v1/x", "GET /a/{id}", "PUT /a/{id}");
    expect(made.find("POST", "/v1/x")).toEqual({ kind: "method", allow: ["GET"] });
    expect(made.find("GET", "/a/b")).toEqual({
      kind: "found",
      value: "GET /a/{id}",
      parameters: { id: "b" },
    });
    expect(table("GET /a/{id}", "PUT /a/{id}", "POST /{p}/{rest...}").find("POST", "/a/b")).toEqual(
      {
        kind: "method",
        allow: ["GET", "PUT"],
      },
    );
  });

  it("does not mistake a method for a member of an object", () => {
    expect(routes.find("constructor", "/v1/models")).toMatchObject({ kind: "method" });
    expect(routes.find("GET", "/v1/models/__proto__")).toMatchObject({
      kind: "found",
      parameters: { id: "__proto__" },
    });
  });
});

/** The same by regular expressions, one route at a time. */
function naiveFind(
  routes: readonly (readonly [string, string])[],
  method: string,
  path: string,
): RouteMatch<string> {
  const fixed = (of: string) => of.split("/").filter((segment) => !segment.startsWith("{")).length;
  const wide = routes
    .filter(([, of]) => of.includes("{"))
    .toSorted(([, a], [, b]) => fixed(b) - fixed(a));
  const ordered = [...routes.filter(([, of]) => !of.includes("{")), ...wide];
  for (const [, pattern] of ordered) {
    const source = pattern
      .replace(/\{(\w+)\.\.\.\}/g, "(?<$1>[^]+)")
      .replace(/\{(\w+)\}/g, "(?<$1>[^/]+)");
    const match = new RegExp(`^${source}$`).exec(path);
    if (match === null) continue;
    const allow = routes.filter(([, other]) => other === pattern).map(([of]) => of);
    if (!allow.includes(method)) return { kind: "method", allow };
    return { kind: "found", value: `${method} ${pattern}`, parameters: { ...match.groups } };
  }
  return { kind: "none" };
}

describe("any route table", () => {
  const method = fc.constantFrom("GET", "POST", "PUT");
  const segment = fc.constantFrom("a", "b", "v1");
  const wild = fc.constantFrom("{x}", "{y}");
  const pattern = fc
    .tuple(
      fc.array(fc.oneof(segment, wild), { maxLength: 3 }),
      fc.constantFrom("", "", "{rest...}"),
      fc.array(segment, { maxLength: 2 }),
    )
    .map(
      ([segments, rest, after]) =>
        `/${[...segments, ...(rest === "" ? [] : [rest, ...after])].join("/")}`,
    )
    .filter((path) => new Set(path.match(/\{\w+/g)).size === (path.match(/\{\w+/g) ?? []).length);
  const routes = fc.uniqueArray(fc.tuple(method, pattern), {
    maxLength: 8,
    selector: (route) => route.join(" "),
  });
  const path = fc
    .array(fc.oneof(segment, fc.constantFrom("", "zz")), { maxLength: 5 })
    .map((segments) => `/${segments.join("/")}`);

  it("finds what a naive matcher finds", () => {
    fc.assert(
      fc.property(routes, method, path, (added, asked, of) => {
        const made = table(...added.map((route) => route.join(" ")));
        expect(made.find(asked, of)).toEqual(naiveFind(added, asked, of));
      }),
      { numRuns: 3_000 },
    );
  });
});
