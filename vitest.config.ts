import { defineConfig } from "vitest/config";

/**
 * Tests that start, restart, kill and install whole gateways, need a thousand of something or a
 * database server, and files of ten seconds. They take minutes: `npm run verify` runs them, `npm
 * test` does not.
 */
const PROCESSES = [
  "test/system/{cluster,operators,plugins,rollout}/**/*.test.ts",
  "test/system/{faces,resilience}/fallback.test.ts",
  "test/system/faces/stored/background-hostile.test.ts",
  "test/system/faces/{repeats,stored/stored-terms}.test.ts",
  "test/system/limits/{scope-changes,verify-budgets}.test.ts",
  "test/system/listeners/route-credentials.test.ts",
  "test/system/passthrough/endpoints.test.ts",
  "test/system/resilience/breakers.test.ts",
  "test/system/examples.test.ts",
];

/**
 * Of these, fleets of gateways, stores on servers, and files of half a minute: `npm run test:long`.
 * `npm run verify -- --short` leaves them out.
 */
const LONG = [
  "test/system/{fleet,scale,stores}/**/*.test.ts",
  "test/system/cluster/{background,blocked-loop,drain,first-requests,generation-agreement}.test.ts",
  "test/system/cluster/{kill,rolling-upgrade,stopped-process}.test.ts",
  "test/system/operators/litellm-database/**/*.test.ts",
  "test/system/plugins/{faults,new}.test.ts",
];

/**
 * What further tests prove of a feature that `npm test` has tests of: the same at every provider,
 * face, role and size, attacks, storms, and losses of what a gateway needs. They run as those of
 * the project `system` do: `npm run test:further`, a part of `npm run verify`.
 */
const FURTHER = [
  "test/system/accounting/{ambiguous-billing,calls-under-way,cut-twins}.test.ts",
  "test/system/accounting/{full-disk,spend-report,store-file,truth-ledger}.test.ts",
  "test/system/compat/{administration,extensions,forwarded,tenants,tool-routes}.test.ts",
  "test/system/configuration/write.test.ts",
  "test/system/faces/{aborts,ai-majors,credential-echo,guarded-replies,lane-bounds}.test.ts",
  "test/system/faces/{limits,matrix,other-sdks,planted,recorded}.test.ts",
  "test/system/faces/{relayed-replies,relayed-streams,vendor-errors}.test.ts",
  "test/system/faces/stored/background.test.ts",
  "test/system/guardrails/{ask-again,isolation,natives,packages,report}.test.ts",
  "test/system/large/{alike,bounds,replies,words}.test.ts",
  "test/system/limits/{counted-refusals,declared-teams,key-commands,key-pages}.test.ts",
  "test/system/limits/many-customers.test.ts",
  "test/system/limits/isolation{,-guardrails,-retries,-tags}.test.ts",
  "test/system/limits/{moved-and-back,rate-use,redis,two-gateways,zero-budgets}.test.ts",
  "test/system/listeners/{held-bodies,hostile-connections,openapi,previous-key}.test.ts",
  "test/system/listeners/{audit-retention,raw-http,slow-readers,without-dashboard}.test.ts",
  "test/system/listeners/{first-start,late-store}.test.ts",
  "test/system/passthrough/{hostile-replies,unread-natives}.test.ts",
  "test/system/providers/{commit-after,embeddings,upstream-errors}.test.ts",
  "test/system/requests/{abort-storm,listed-names,step-uses,unreported-usage}.test.ts",
  "test/system/requests/{wide-requests,wrong-replies}.test.ts",
  "test/system/resilience/{balance,balance-storm,faults,hedge}.test.ts",
  "test/system/resilience/{lost-connections,overview,stale-connections}.test.ts",
  "test/system/roles/{late-routes,made-keys,matrix,more-escalations,requests}.test.ts",
  "test/system/tenants/{commands,declared}.test.ts",
];

/** Unit tests that take seconds: they wait, count, or end processes. `further` runs them too. */
const FURTHER_UNITS = [
  "core/kit/src/json/{paged-text,sliced/parse}.test.ts",
  "core/engine/src/accounting/ledger/crash.test.ts",
  "core/engine/src/accounting/outbox/recover.test.ts",
  "core/engine/src/counting/{counter,o200k,pool}.test.ts",
  "core/engine/src/registry/load.test.ts",
  "core/engine/src/resources/data-lock.test.ts",
  "plugins/shared-redis/src/{away,money}.test.ts",
  "plugins/store-sqlite/src/{writer-thread,ledger/reports,ledger/sums/report}.test.ts",
];

/**
 * Files that run one after the other share a process, and Node loads the sources, as it does in the
 * gateway. A process and a transform for each of 400 files took a third of the time. What a test
 * changes in its process (folder, timers, spies), it puts back.
 */
const SHARED_PROCESS = {
  isolate: false,
  restoreMocks: true,
  experimental: { viteModuleRunner: false, nodeLoader: false },
};

/** The second attempt of a test begins as its file did. */
const RENEWED = "test/renewed-retries.ts";

const OWN_PROCESSES = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  retry: process.env["CI"] === undefined ? 0 : 1,
};

const isFull = process.env["SLUICE_PROOF"] === "full";

const SYSTEM = {
  ...SHARED_PROCESS,
  setupFiles: [RENEWED],
  // Gateways run one after the other in few processes. `proof:system` gives each its own.
  env: { SLUICE_TEST_PROCESSES: isFull ? "own" : "shared" },
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // Real processes with real deadlines: on a shared machine a test that failed runs once more.
  retry: process.env["CI"] === undefined ? 0 : 1,
};

export default defineConfig({
  test: {
    // Vitest leaves a core to others: on two cores one would stand idle. With three, tests with
    // deadlines fail when other work runs beside them.
    maxWorkers: 2,
    reporters: ["default", "json"],
    outputFile: { json: "node_modules/.cache/tests.json" },
    projects: [
      {
        test: {
          ...SHARED_PROCESS,
          name: "unit",
          setupFiles: ["test/unit-setup.ts"],
          include: [
            "core/*/src/**/*.test.ts",
            "core/cli/templates/*/src/**/*.test.ts",
            "plugins/*/src/**/*.test.ts",
            "test/architecture/**/*.test.ts",
            "test/deploy/**/*.test.ts",
            "test/facts/**/*.test.ts",
          ],
          exclude: FURTHER_UNITS,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          retry: process.env["CI"] === undefined ? 0 : 1,
        },
      },
      {
        test: {
          ...SYSTEM,
          name: "system",
          include: ["test/system/**/*.test.ts"],
          exclude: [...PROCESSES, ...LONG, ...FURTHER],
        },
      },
      { test: { ...SYSTEM, name: "further", include: [...FURTHER, ...FURTHER_UNITS] } },
      {
        test: {
          name: "dashboard",
          include: ["test/dashboard/**/*.test.ts"],
          globalSetup: ["test/dashboard/support/build-once.ts"],
          testTimeout: 120_000,
          retry: process.env["CI"] === undefined ? 0 : 1,
          hookTimeout: 120_000,
          // One browser for all files.
          isolate: false,
          fileParallelism: false,
        },
      },
      {
        test: {
          ...OWN_PROCESSES,
          name: "processes",
          setupFiles: [RENEWED],
          include: PROCESSES,
          exclude: LONG,
        },
      },
      { test: { ...OWN_PROCESSES, name: "long", include: LONG } },
    ],
  },
});
