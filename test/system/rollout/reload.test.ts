/** Reloads under constant load: no request fails, and none sees two configurations. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createUpstream, type Upstream } from "@sluice/testing";
import { configStatus, type SpendRow, spendRows } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { type Load, type Seen, startLoad } from "../support/load.ts";
import { isMixed } from "../support/one-generation.ts";
import { amount } from "../support/proof.ts";
import { createWorkspace, type Workspace } from "../support/workspace.ts";

const RELOADS = amount(12, 40);
const LOOPS = 20;

let upstream: Upstream;
let workspace: Workspace;
let gateway: GatewayProcess;
let load: Load | undefined;

/**
 * Edit number `edit` of the gateway file. It changes two things that meet in one upstream request:
 * the target's model, which comes from the route's model, and a header, which comes from the
 * provider's instance.
 */
const configOf = (edit: number): string =>
  workspace.config({
    baseUrl: upstream.baseUrl,
    provider: `organization: edit-${edit}`,
    models: [
      `{ id: edited, targets: [{ provider: openai, model: edit-${edit} }], access_groups: [group-${edit}] }`,
    ],
  });

beforeAll(async () => {
  upstream = await createUpstream();
  // The upstream says what it saw, so that the client's response holds both.
  upstream.script(({ parsed, headers }) => ({
    kind: "reply",
    text: `${String(parsed?.["model"])} ${String(headers["openai-organization"])} and four more words`,
    delayMs: 2,
    eventDelayMs: 2,
  }));
  workspace = createWorkspace();
  workspace.write(configOf(0));
  gateway = await startGateway(workspace);
});
afterAll(async () => {
  await load?.stop();
  await gateway?.dispose();
  await upstream?.close();
});

it(`${RELOADS} reloads under load fail no request and mix no generations`, async () => {
  load = startLoad(gateway, LOOPS, "edited");
  const first = (await configStatus(gateway)).live.generation;
  let generation = first;
  for (let edit = 1; edit <= RELOADS; edit += 1) {
    makeEdit(edit);
    const before = generation;
    generation = await eventually(`edit ${edit} to apply`, async () => {
      const { live } = await configStatus(gateway);
      return live.generation > before && live.generation;
    });
  }
  const seen = await load.stop();

  const failed = seen.filter(({ status, hasEnded }) => status !== 200 || !hasEnded);
  const editOfGeneration = new Map<string, string>();
  const mixed = seen.filter(
    (response) => !failed.includes(response) && isMixed(response, editOfGeneration),
  );
  const generations = new Set(seen.map((response) => response.generation));
  console.log(
    `reloads ${generation - first}, requests ${seen.length} (${seen.filter(({ isStream }) => isStream).length} streams), failed ${failed.length}, mixed ${mixed.length}, generations seen ${generations.size}`,
  );
  expect(failed).toEqual([]);
  expect(mixed).toEqual([]);
  expect(generation - first).toBe(RELOADS);
  expect(generations.size).toBeGreaterThan(RELOADS / 2);
  await eventually(
    "old generations to close",
    async () => (await configStatus(gateway)).draining.length === 0,
  );
  expectRowsToAgree(await spendRows(gateway, { limit: "1000" }), seen);
});

/**
 * Writes edit number `edit`, by one of several ways: both ways of writing, with a signal and by
 * being noticed, two files.
 */
function makeEdit(edit: number): void {
  if (edit % 10 === 9) {
    const pipeline = join(workspace.pipelinesFolder, "chat.yaml");
    writeFileSync(
      pipeline,
      readFileSync(pipeline, "utf8").replace(/^deadline: \d+s/m, `deadline: ${600 + edit}s`),
    );
  } else {
    workspace.write(configOf(edit), edit % 2 === 0 ? "rename" : "in place");
  }
  if (edit % 5 > 1) gateway.signal("SIGHUP");
}

/** Rows have the generation of the client's header. */
function expectRowsToAgree(
  rows: readonly (SpendRow & { readonly generation?: number })[],
  seen: readonly Seen[],
): void {
  const generations = new Map(
    seen.map(({ requestId, generation }) => [requestId, Number(generation)]),
  );
  expect(rows).toHaveLength(Math.min(1_000, seen.length));
  expect(
    rows.filter(({ request_id, generation }) => generations.get(request_id) !== generation),
  ).toEqual([]);
}
