/**
 * The page that shows the OpenAPI document: rendered by the gateway, without scripts and external
 * requests.
 */

import { createHash } from "node:crypto";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";

const STYLE = `
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#1b1f24;background:#fff}
h1{margin-bottom:0}h2{margin-top:2.5rem;border-bottom:1px solid #d0d7de;padding-bottom:.25rem}
code,pre{font:14px/1.5 ui-monospace,monospace}pre{background:#f6f8fa;padding:1rem;overflow:auto;border-radius:6px}
details{border:1px solid #d0d7de;border-radius:6px;margin:.5rem 0;padding:.5rem 1rem}summary{cursor:pointer}
table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #eaeef2}
.method{display:inline-block;min-width:4.5rem;font-weight:600;color:#0550ae}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}pre{background:#161b22}.method{color:#79c0ff}h2,details{border-color:#30363d}td,th{border-color:#21262d}}
`;

/** The page's policy: its own style and nothing else may be loaded or run. */
export const DOCS_POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; frame-ancestors 'none'`;

/** The page of a document. */
export function docsPage(document: JsonObject): string {
  const paths = entries(document.paths);
  const schemas = entries(member(document.components, "schemas"));
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sluice API</title><style>${STYLE}</style></head>
<body>
<h1>Sluice API</h1>
<p>${escape(String(member(document.info, "description")))} The same as data: <a href="openapi.json">openapi.json</a>.</p>
<p>Every request carries a key: <code>Authorization: Bearer sk-…</code>. A first call:</p>
<pre>curl /v1/models -H "Authorization: Bearer $KEY"</pre>
<h2>Routes</h2>
${paths
  .map(([path, methods]) =>
    entries(methods)
      .map(([method, operation]) => routeHtml(path, method, operation))
      .join(""),
  )
  .join("")}
<h2>Schemas</h2>
${schemas.map(([name, schema]) => schemaHtml(name, schema)).join("")}
</body>
</html>
`;
}

function routeHtml(path: string, method: string, operation: JsonValue | undefined): string {
  const parameters = member(operation, "parameters");
  const rows = (Array.isArray(parameters) ? parameters : []).map(
    (parameter) =>
      `<tr><td><code>${text(parameter, "name")}</code></td><td>${text(parameter, "in")}</td><td>${prose(parameter)}</td></tr>`,
  );
  const body = referenceOf(member(member(operation, "requestBody"), "content"));
  const reply = referenceOf(member(member(member(operation, "responses"), "200"), "content"));
  return `<details><summary><span class="method">${escape(method.toUpperCase())}</span> <code>${escape(path)}</code> ${text(operation, "summary")}</summary>
${rows.length > 0 ? `<table><tr><th>Parameter</th><th>In</th><th></th></tr>${rows.join("")}</table>` : ""}
${body === "" ? "" : `<p>Body: ${body}</p>`}${reply === "" ? "" : `<p>Reply: ${reply}</p>`}</details>
`;
}

/** Links to the schemas that a content names. */
function referenceOf(content: JsonValue | undefined): string {
  return entries(content)
    .map(([type, { schema } = {} as JsonObject]) => {
      const reference = member(schema, "$ref");
      const name = typeof reference === "string" ? (reference.split("/").at(-1) ?? "") : "";
      const link = name === "" ? "" : ` <a href="#${escape(name)}">${escape(name)}</a>`;
      return `<code>${escape(type)}</code>${link}`;
    })
    .join(", ");
}

function schemaHtml(name: string, schema: JsonObject): string {
  const required = member(schema, "required");
  const rows = entries(member(schema, "properties")).map(([field, shape]) => {
    const isRequired = Array.isArray(required) && required.includes(field);
    const example = member(shape, "examples");
    const shown = Array.isArray(example)
      ? `<br><code>${escape(JSON.stringify(example[0]))}</code>`
      : "";
    return `<tr><td><code>${escape(field)}</code>${isRequired ? " (required)" : ""}</td><td>${escape(typeWords(shape))}</td><td>${prose(shape)}${shown}</td></tr>`;
  });
  const table =
    rows.length > 0
      ? `<table>${rows.join("")}</table>`
      : `<pre>${escape(JSON.stringify(schema, null, 2))}</pre>`;
  return `<details id="${escape(name)}"><summary><code>${escape(name)}</code></summary><p>${prose(schema)}</p>${table}</details>
`;
}

function typeWords(shape: JsonObject): string {
  const branches = shape.anyOf;
  if (Array.isArray(branches) && shape.type === undefined)
    return branches.filter(isObject).map(typeWords).join(" or ");
  if (shape.const !== undefined) return JSON.stringify(shape.const);
  const words = [shape.type ?? "any"].flat().map(String).join(" or ");
  return typeof shape.minimum === "number" && typeof shape.maximum === "number"
    ? `${words}, ${shape.minimum} to ${shape.maximum}`
    : words;
}

function entries(value: JsonValue | undefined): [string, JsonObject][] {
  return Object.entries(isObject(value) ? value : {}).filter(
    (entry): entry is [string, JsonObject] => isObject(entry[1]),
  );
}

function member(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isObject(value) ? value[name] : undefined;
}

function text(value: JsonValue | undefined, name: string): string {
  const found = member(value, name);
  return typeof found === "string" ? escape(found) : "";
}

/** A description, its `code` marked. */
function prose(value: JsonValue | undefined): string {
  return text(value, "description").replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

function escape(raw: string): string {
  return raw
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
