/**
 * The property of the guardrails of requests on every face: a forbidden word at any string or name
 * of a valid request is judged, or does not reach the upstream. `SLUICE_PLANTED` and
 * `SLUICE_PLANTED_SEED` as in `test/system/guardrails/planted.test.ts`.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guardedWorkspace } from "../guardrails/guardrails.fixture.ts";
import { type GatewayProcess, startGateway } from "../support/gateway-process.ts";
import { FACE_KINDS, faceRequestOf } from "../support/planted/faces.ts";
import { PLANTED } from "../support/planted/places.ts";
import {
  createWatchedUpstream,
  PLANTED_ENVIRONMENT,
  plantedWorkspace,
  runPlanted,
  type WatchedUpstream,
} from "../support/planted/run.ts";

const COUNT = Number(process.env.SLUICE_PLANTED ?? 500);
const SEED = Number(process.env.SLUICE_PLANTED_SEED ?? 17);

let upstream: WatchedUpstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await createWatchedUpstream();
  const workspace = guardedWorkspace({
    ...plantedWorkspace(upstream.url),
    guardrails: [`no-bad: { use: forbid, word: ${PLANTED} }`],
    step: "{ input: [no-bad] }",
  });
  const path = join(workspace.pipelinesFolder, "chat.yaml");
  const face = "  - { route: POST /v1/completions, face: completions }\noperation:";
  writeFileSync(path, readFileSync(path, "utf8").replace("operation:", face));
  gateway = await startGateway(workspace, PLANTED_ENVIRONMENT);
});
afterAll(async () => {
  await gateway?.dispose();
  await upstream?.close();
});

describe(`a word planted into ${COUNT} requests of ${FACE_KINDS} kinds`, () => {
  it(
    "is judged, or does not reach the upstream",
    async () => {
      const run = { count: COUNT, seed: SEED, gateway, upstream, requestOf: faceRequestOf };
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
