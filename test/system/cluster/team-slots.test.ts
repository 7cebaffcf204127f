/**
 * The part of one key in a team's concurrent requests holds over two workers: the shared state
 * counts it.
 */

import { afterAll, beforeAll, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { admin, chat, createKey, MESSAGES } from "../support/client.ts";
import { createClusterWorkspace } from "../support/cluster-workspace.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";

const LIMIT = 8;
/** An eighth of the limit is kept for a key that comes. */
const OF_KEY = 7;
const SENT = 20;

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

it("one key of a team leaves a slot to the next, whichever workers serve them", async () => {
  const response = await admin(gateway, "/team/new", { max_parallel_requests: LIMIT });
  const { team_id } = (await response.json()) as { readonly team_id: string };
  const [attacker, victim] = await Promise.all([
    createKey(gateway, { team_id }),
    createKey(gateway, { team_id }),
  ]);
  upstream.script("gpt-4o-mini", ({ parsed }) =>
    parsed?.["user"] === "attacker" ? { kind: "hang" } : { kind: "reply" },
  );
  const end = new AbortController();
  const refusals: string[] = [];
  const ask = (key: string, user: string, signal?: AbortSignal): Promise<Response> => {
    // A connection of its own goes to either worker.
    const headers = { authorization: `Bearer ${key}`, connection: "close" };
    const body = { model: "gpt-4o-mini", messages: MESSAGES, user };
    return chat(gateway, body, { headers, ...(signal && { signal }) });
  };
  const held = Array.from({ length: SENT }, async () => {
    const answer = await ask(attacker.key, "attacker", end.signal);
    refusals.push(await answer.text());
  });
  const ended = Promise.allSettled(held);
  await eventually("the refusals", () => refusals.length === SENT - OF_KEY);
  expect(refusals[0]).toContain(`This key may have ${OF_KEY} of the team's limit of ${LIMIT}`);
  // One slot is free. A reply ends before the other worker knows that its slot is free again.
  for (let turn = 0; turn < 10; turn += 1) {
    await eventually("the victim's slot", async () => {
      const answer = await ask(victim.key, "victim");
      await answer.text();
      return answer.status === 200;
    });
  }
  end.abort();
  await ended;
});
