/**
 * `/openapi.json` and `/docs` of a running gateway: valid, whole, open to valid keys, or to all
 * where `server.open_docs` says so.
 */

import { createHash } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { faultsOfDocument } from "../support/listeners/openapi-rules.ts";

const PIPELINES = new URL("../../../pipelines/", import.meta.url).pathname;

type Json = { readonly [name: string]: Json } & { readonly [index: number]: Json };

let gateway: GatewayProcess;
let document: Json;

beforeAll(async () => {
  gateway = await startGateway({ server: "auth_headers: [x-service-api-key], open_docs: true" });
  const answer = await fetch(`${gateway.publicUrl}/openapi.json`);
  if (answer.headers.get("content-type") !== "application/json")
    throw new Error(`/openapi.json answered ${answer.status}.`);
  document = (await answer.json()) as Json;
});
afterAll(async () => {
  await gateway?.dispose();
});

/** Every value of a document with its place. */
function* walk(value: unknown, place = "#"): Generator<readonly [string, unknown]> {
  yield [place, value];
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) yield* walk(member, `${place}/${name}`);
}

function resolve(reference: string): unknown {
  return reference
    .slice(2)
    .split("/")
    .reduce<unknown>(
      (value, name) => (value as Record<string, unknown> | undefined)?.[name],
      document,
    );
}

describe("the document", () => {
  it("is OpenAPI 3.1", () => {
    expect(faultsOfDocument(document)).toEqual([]);
  });

  it("has a schema behind every reference, and each schema is one", () => {
    const references = [...walk(document)]
      .filter(([place]) => place.endsWith("/$ref"))
      .map(([, reference]) => String(reference));
    expect(references.length).toBeGreaterThan(20);
    expect(references.filter((reference) => resolve(reference) === undefined)).toEqual([]);
    // `discriminator` is OpenAPI's word; JSON Schema leaves it alone.
    const ajv = new Ajv2020({
      strict: true,
      strictTypes: false,
      strictRequired: false,
      keywords: ["discriminator"],
    });
    for (const schema of Object.values(document.components?.schemas ?? {}))
      ajv.compile(schema as object);
  });

  it("names each operation once", () => {
    const ids = [...walk(document.paths)]
      .filter(([place]) => place.endsWith("/operationId"))
      .map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("has every route of the shipped pipelines, and no other", () => {
    const shipped = globSync("*.yaml", { cwd: PIPELINES }).flatMap((file) => {
      const { routes } = parse(readFileSync(`${PIPELINES}${file}`, "utf8")) as {
        routes: (string | { route: string })[];
      };
      return routes.map((entry) => (typeof entry === "string" ? entry : entry.route));
    });
    const shown = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const expected = [
      ...shipped.map((route) => route.replaceAll("...}", "}")),
      "GET /health/live",
      "GET /health/ready",
    ];
    expect(shown.toSorted()).toEqual([...new Set(expected)].toSorted());
  });

  it("has the parameters of every path", () => {
    for (const [path, methods] of Object.entries(document.paths ?? {})) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const operation of Object.values(methods) as unknown as {
        parameters?: { name: string; in: string }[];
      }[]) {
        const described = (operation.parameters ?? [])
          .filter((parameter) => parameter.in === "path")
          .map(({ name }) => name);
        expect(described).toEqual(names);
      }
    }
  });

  it("has the fields that the chat route checks, with their bounds, and examples that fit", () => {
    const { properties, required } = (document.components?.schemas?.ChatRequest ??
      {}) as unknown as {
      properties: Record<string, { description?: string; examples?: unknown[] }>;
      required: string[];
    };
    expect(required.toSorted()).toEqual(["messages", "model"]);
    expect(properties).toMatchObject({
      temperature: { minimum: 0, maximum: 2 },
      n: { maximum: 128 },
      drop_params: {},
    });
    const ajv = new Ajv2020({ strict: false });
    for (const [name, schema] of Object.entries(properties)) {
      expect([name, schema.description]).toEqual([name, expect.stringMatching(/\S.*[.`]$/)]);
      for (const example of schema.examples ?? [])
        expect([name, ajv.validate(schema, example)]).toEqual([name, true]);
    }
  });

  it("agrees with the gateway about what a good and a bad request is", async () => {
    const validate = new Ajv2020({ strict: false }).compile(
      document.components?.schemas?.ChatRequest as object,
    );
    const base = { model: "echo", messages: [{ role: "user", content: "x" }] };
    for (const body of [
      base,
      { ...base, temperature: 3 },
      { ...base, stop: null },
      { ...base, stop: [1] },
      { ...base, messages: [{ role: "tool", content: "x" }] },
      { ...base, messages: [{ role: "user", content: [{ type: "text", text: "x" }] }] },
      { ...base, messages: [{ role: "user", content: [{ type: "hologram" }] }] },
      { ...base, tool_choice: "any" },
      { ...base, x: 1 },
    ]) {
      const answer = await fetch(`${gateway.publicUrl}/v1/chat/completions`, {
        method: "POST",
        body: JSON.stringify(body),
        headers: {
          authorization: `Bearer ${gateway.masterKey}`,
          "content-type": "application/json",
        },
      });
      expect([body, answer.status]).toEqual([body, validate(body) ? 200 : 400]);
    }
  });

  it("says how a key is sent, and names every error", () => {
    expect(document.components?.securitySchemes).toMatchObject({
      bearer: { type: "http", scheme: "bearer" },
      "x-service-api-key": { type: "apiKey", in: "header", name: "x-service-api-key" },
    });
    const responses = document.paths?.["/v1/chat/completions"]?.post?.responses;
    for (const status of [200, 400, 401, 403, 404, 408, 413, 415, 429, 500, 502, 503, 504]) {
      expect(Object.keys(responses ?? {})).toContain(String(status));
    }
  });
});

describe("the page", () => {
  it("shows every route, and loads nothing from anywhere", async () => {
    const answer = await fetch(`${gateway.publicUrl}/docs`);
    const html = await answer.text();
    expect([answer.status, answer.headers.get("content-type")]).toEqual([
      200,
      "text/html; charset=utf-8",
    ]);
    for (const path of Object.keys(document.paths ?? {}))
      expect(html).toContain(`<code>${path}</code>`);
    expect(html).not.toMatch(/(?:src|href|action)\s*=\s*["']?\s*(?:https?:)?\/\//i);
    expect(html).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|\son\w+=/i);
    expect(html).not.toMatch(/https?:\/\//);
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
    const [, style = ""] = /<style>([\s\S]*?)<\/style>/.exec(html) ?? [];
    expect(answer.headers.get("content-security-policy")).toContain(
      createHash("sha256").update(style).digest("base64"),
    );
  });
});

describe("an edit of the pipelines", () => {
  it("is in the document as soon as it is live", async () => {
    const file = join(gateway.workspace.pipelinesFolder, "chat.yaml");
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace(/POST \/chat\/completions\b/, "POST /v9/talk"),
    );
    const shown = await eventually("the new route", async () => {
      const edited = (await (await fetch(`${gateway.publicUrl}/openapi.json`)).json()) as Json;
      return edited.paths?.["/v9/talk"];
    });
    expect(shown).toMatchObject({ post: { tags: ["chat"] } });
  });
});

describe("the document of the admin listener", () => {
  const read = async (key?: string): Promise<Response> =>
    fetch(`${gateway.adminUrl}/openapi.json`, {
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    });

  it("is for callers of the listener alone, is OpenAPI 3.1, and each schema is one", async () => {
    expect([(await read()).status, (await read("sk-other")).status]).toEqual([401, 401]);
    const answer = await read(gateway.masterKey);
    const admin = (await answer.json()) as Json;
    expect(answer.status).toBe(200);
    expect(faultsOfDocument(admin)).toEqual([]);
    const ajv = new Ajv2020({
      strict: true,
      allowUnionTypes: true,
      formats: { "date-time": true },
    });
    const schemas = [...walk(admin.paths)].filter(
      // A path of the listener ends with the same word.
      ([place]) => place.endsWith("/schema") && !place.endsWith("/config/schema"),
    );
    expect(schemas.length).toBeGreaterThan(100);
    for (const [, schema] of schemas) ajv.compile(schema as object);
    expect(JSON.stringify(admin)).not.toContain("x-words");
  });

  it("describes every route that the listener has", async () => {
    const admin = (await (await read(gateway.masterKey)).json()) as Json;
    const shown = Object.entries(admin.paths ?? {}).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    for (const name of shown) {
      const [method = "", path = ""] = name.split(" ");
      // Without a body and without an object: every answer but that of a path that does not exist.
      const answer = await fetch(`${gateway.adminUrl}${path.replaceAll(/[{}]/g, "")}`, {
        method,
        headers: { authorization: `Bearer ${gateway.masterKey}` },
      });
      expect([name, await answer.text()]).not.toEqual([
        name,
        expect.stringMatching("This path does not exist"),
      ]);
    }
  });
});
