/**
 * The property of the guardrails of requests: a forbidden word at any string or name of a valid
 * request of any dialect is judged, or does not reach the upstream. `SLUICE_PLANTED=20000` tries as
 * many requests (`npm run verify`); `SLUICE_PLANTED_SEED` chooses others.
 */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { guardedWorkspace } from "./guardrails.fixture.ts";
import { PLANTED } from "../support/planted/places.ts";
import { DIALECT_COUNT, requestOf } from "../support/planted/requests.ts";
import {
  createWatchedUpstream,
  PLANTED_ENVIRONMENT,
  plantedWorkspace,
  runPlanted,
  type WatchedUpstream,
} from "../support/planted/run.ts";

const COUNT = Number(process.env.SLUICE_PLANTED ?? 500);
const SEED = Number(process.env.SLUICE_PLANTED_SEED ?? 14);

let upstream: WatchedUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createWatchedUpstream();
  const workspace = guardedWorkspace({
    ...plantedWorkspace(upstream.url),
    guardrails: [`no-bad: { use: forbid, word: ${PLANTED} }`],
    step: "{ input: [no-bad] }",
  });
  gateway = await startGateway(workspace, PLANTED_ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

describe(`a word planted into ${COUNT} requests of ${DIALECT_COUNT} kinds`, () => {
  it(
    "is judged, or does not reach the upstream",
    async () => {
      const run = { count: COUNT, seed: SEED, gateway, upstream, requestOf };
      const { outcomes, faults } = await runPlanted(run);
      // oxlint-disable-next-line no-console -- the figures are for the person that runs the suite.
      console.info(
        `planted: ${COUNT} requests, ${JSON.stringify(outcomes)}, ${upstream.leaked.length} forwarded with the word`,
      );
      expect(faults).toEqual([]);
    },
    Math.max(60_000, COUNT * 60),
  );
});
