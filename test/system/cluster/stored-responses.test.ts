/** Stored responses of two workers with the memory driver: each finds what the other one stored. */

import OpenAI from "openai";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { createClusterWorkspace } from "../support/cluster-workspace.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createUpstream();
  gateway = await startGateway(createClusterWorkspace(upstream.baseUrl));
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

it("a conversation goes on at any worker, turn after turn", async () => {
  const sdk = new OpenAI({
    apiKey: gateway.masterKey,
    baseURL: `${gateway.publicUrl}/v1`,
    maxRetries: 0,
    // A connection of its own goes to either worker.
    defaultHeaders: { connection: "close" },
  });
  let previous: string | undefined;
  for (let at = 1; at <= 12; at++) {
    const data: OpenAI.Responses.Response = await sdk.responses.create({
      model: "gpt-4o-mini",
      input: `Turn ${at}.`,
      ...(previous !== undefined && { previous_response_id: previous }),
    });
    expect(data.status).toBe("completed");
    previous = data.id;
  }
  const { messages } = (upstream.requests.at(-1)?.parsed ?? {}) as { readonly messages?: unknown };
  expect(messages).toHaveLength(23);
  await sdk.responses.delete(previous ?? "");
  for (let at = 0; at < 8; at++)
    await expect(sdk.responses.retrieve(previous ?? "")).rejects.toMatchObject({ status: 404 });
});
