import { defineConfig } from "vitest/config";

/**
 * Tests that start, restart, kill and install whole gateways. They take minutes: `npm run verify`
 * runs them, `npm test` does not.
 */
const PROCESSES = [
  "test/system/{cluster,operators,plugins,rollout}/**/*.test.ts",
  "test/system/examples.test.ts",
];

export default defineConfig({
  test: {
    // Vitest leaves a core to others: on two cores one would stand idle.
    maxWorkers: 2,
    reporters: ["default", "json"],
    outputFile: { json: "node_modules/.cache/tests.json" },
    projects: [
      {
        test: {
          name: "unit",
          include: [
            "core/*/src/**/*.test.ts",
            "core/cli/templates/*/src/**/*.test.ts",
            "plugins/*/src/**/*.test.ts",
            "test/architecture/**/*.test.ts",
            "test/facts/**/*.test.ts",
          ],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          retry: process.env["CI"] === undefined ? 0 : 1,
        },
      },
      {
        test: {
          name: "system",
          include: ["test/system/**/*.test.ts"],
          exclude: PROCESSES,
          testTimeout: 120_000,
          // Real processes with real deadlines: on a shared machine a test that failed runs once
          // more.
          retry: process.env["CI"] === undefined ? 0 : 1,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: "processes",
          include: PROCESSES,
          testTimeout: 120_000,
          retry: process.env["CI"] === undefined ? 0 : 1,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
