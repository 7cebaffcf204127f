/**
 * A credential in a body: as the model, the user, a tag or a note. It authenticates nothing and is
 * written nowhere.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, createKey, MESSAGES } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

let gateway: GatewayProcess;
let upstream: Upstream;
beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({ baseUrl: upstream.baseUrl });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

it("reaches no message, row, explanation, log or file (load-and-faults 2.5)", async () => {
  const { key } = await createKey(gateway, {});
  const other = (await createKey(gateway, {})).key;
  const bodies = [
    ["/v1/chat/completions", { model: other, messages: MESSAGES }],
    ["/v1/embeddings", { model: other, input: "x" }],
    ["/openai/v1/chat/completions", { model: other, messages: MESSAGES, user: other }],
    [
      "/v1/chat/completions",
      {
        model: "echo",
        messages: MESSAGES,
        user: other,
        tags: [other],
        metadata: { note: `a ${other}` },
      },
    ],
  ] as const;
  const seen: string[] = [];
  for (const [path, body] of bodies) {
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "x-sluice-tags": `a,${other}`,
    };
    const answer = await fetch(`${gateway.publicUrl}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    const id = answer.headers.get("x-request-id") ?? "";
    const text = await answer.text();
    // On a native route the body is the upstream's word, and the upstream got the client's bytes.
    if (!path.startsWith("/openai/")) seen.push(text);
    seen.push(JSON.stringify(Object.fromEntries(answer.headers)));
    const rows = await eventually("the row", async () => {
      const found = await fetch(`${gateway.publicUrl}/spend/logs?request_id=${id}`, {
        headers: { authorization: `Bearer ${key}` },
      });
      const text = await found.text();
      return text === "[]" ? undefined : text;
    });
    seen.push(rows, await (await admin(gateway, `/requests/${id}`)).text());
  }
  for (const text of seen) expect(text).not.toContain(other);
  expect(seen.join("")).toContain("[redacted]");
  expect(gateway.stdout + gateway.stderr).not.toContain(other);
  const folder = join(gateway.workspace.folder, "data");
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  expect(files.length).toBeGreaterThan(2);
  for (const file of files)
    expect(readFileSync(join(file.parentPath, file.name)).includes(other)).toBe(false);
});
