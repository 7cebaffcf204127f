/**
 * Ids that the upstream gave (python P11): its request id for its support, and its completion's id
 * as a way to the row.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import {
  admin,
  chat,
  createKey,
  MESSAGES,
  rowsOf,
  spendRows,
  type SpendRow,
} from "../support/client.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { NEVER_EJECTS } from "../support/workspace.ts";

type Row = SpendRow & {
  readonly upstream_request_id: string | null;
  readonly completion_id: string | null;
};

let upstream: Upstream;
let gateway: GatewayProcess;
beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway({ baseUrl: upstream.baseUrl, attempts: 1, balance: NEVER_EJECTS });
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

const BODY = { model: "gpt-4o-mini", messages: MESSAGES };

async function idOf(response: Response): Promise<string> {
  return /"id":\s?"([^"]+)"/.exec(await response.text())?.[1] ?? "";
}

describe("an upstream's ids", () => {
  it.each([false, true])(
    "are in the reply and the row, and the completion's id finds the row (stream: %s)",
    async (stream) => {
      const response = await chat(gateway, { ...BODY, stream });
      const upstreamId = response.headers.get("x-upstream-request-id");
      const requestId = response.headers.get("x-request-id");
      const completionId = await idOf(response);
      expect(completionId).toMatch(/^chatcmpl-upstream-/);
      expect(upstreamId).toMatch(/./);
      expect(upstreamId).not.toBe(requestId);
      const [row] = (await rowsOf(gateway, requestId)) as Row[];
      expect(row).toMatchObject({
        request_id: requestId,
        upstream_request_id: upstreamId,
        completion_id: completionId,
      });
      expect(await spendRows(gateway, { request_id: completionId })).toEqual([row]);
      const explained = (await (
        await admin(gateway, `/requests/${completionId}`)
      ).json()) as Record<string, unknown>;
      expect(explained).toMatchObject({
        request_id: requestId,
        source: "memory",
        attempts: [{ upstream_request_id: upstreamId, completion_id: completionId }],
      });
    },
  );

  it.each([
    ["request-id", "req_anthropic"],
    ["x-amzn-requestid", "aws-1"],
    ["apim-request-id", "azure-1"],
  ])("are read from %s", async (name, id) => {
    upstream.script(name, {
      kind: "bytes",
      status: 400,
      headers: { "x-request-id": "", [name]: id },
      body: '{"error":{"message":"no"}}',
    });
    const response = await chat(gateway, { ...BODY, user: name });
    expect([response.status, response.headers.get("x-upstream-request-id")]).toEqual([400, id]);
    await response.text();
    const [row] = (await rowsOf(gateway, response.headers.get("x-request-id"))) as Row[];
    expect(row).toMatchObject({ status: "failure", upstream_request_id: id, completion_id: null });
  });

  it("are in the row of a native call, once in its headers", async () => {
    const response = await fetch(`${gateway.publicUrl}/openai/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify(BODY),
      headers: { authorization: `Bearer ${gateway.masterKey}`, "content-type": "application/json" },
    });
    const upstreamId = response.headers.get("x-upstream-request-id");
    expect(upstreamId).toMatch(/^[^,]+$/);
    const completionId = await idOf(response);
    const [row] = (await rowsOf(gateway, completionId)) as Row[];
    expect(row).toMatchObject({ upstream_request_id: upstreamId, completion_id: completionId });
  });

  it("find no row of another key", async () => {
    const { key } = await createKey(gateway, { key_alias: "other", models: ["gpt-4o-mini"] });
    const response = await chat(gateway, BODY);
    const completionId = await idOf(response);
    expect(await rowsOf(gateway, completionId)).toHaveLength(1);
    const found = await fetch(`${gateway.publicUrl}/spend/logs?request_id=${completionId}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(await found.json()).toEqual([]);
  });
});
