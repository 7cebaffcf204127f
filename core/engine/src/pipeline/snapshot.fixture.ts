/** Settings as the configuration would give them, for tests of pipelines and generations. */

import { NO_TENANTS } from "../config/tenants/declared-tenants.ts";
import type { StepDefinition } from "@sluice/contract";
import { defineStep } from "@sluice/kit";
import { customersOf } from "../config/build-customers.ts";
import type {
  ModelSettings,
  PipelineSettings,
  Position,
  ProviderSettings,
  Snapshot,
  StepSettings,
} from "../config/snapshot.ts";

/** A position in a file that does not exist. */
export const AT: Position = Object.freeze({ file: "config/gateway.yaml", line: 1, column: 1 });

/** The position of a line. */
export function line(number: number): Position {
  return { file: "pipelines/chat.yaml", line: number, column: 5 };
}

/** A pipeline of steps by their names; each stands on a line of its own, from line 10. */
export function pipelineOf(
  steps: readonly (string | Partial<StepSettings>)[],
  parts: Partial<PipelineSettings> = {},
): PipelineSettings {
  return {
    name: "chat",
    file: "pipelines/chat.yaml",
    routes: [{ method: "POST", path: "/v1/chat/completions", at: line(3) }],
    operation: "chat",
    deadlineMs: 600_000,
    heartbeatMs: 15_000,
    steps: steps.map((step, index) => ({
      use: "",
      options: {},
      at: line(10 + index),
      index,
      ...(typeof step === "string" ? { use: step } : step),
    })),
    tests: [],
    testBudgetMs: 10_000,
    at: line(1),
    ...parts,
  };
}

/** A snapshot with nothing in it but what the test gives. */
export function snapshotOf(parts: Partial<Snapshot> = {}): Snapshot {
  return {
    digest: "digest-1",
    contents: "contents-1",
    files: [{ path: "/etc/sluice/gateway.yaml", digest: "file-1", hasEndMark: false, end: AT }],
    server: {
      host: "127.0.0.1",
      port: 0,
      admin: { host: "127.0.0.1", port: 0, hosts: [], editor: "propose" },
      authHeaders: [],
      errorCode: "status",
      keyDefaults: {},
      openDocs: false,
      workers: 1,
      drainTimeoutMs: 120_000,
      shutdownDelayMs: 0,
      hungWorkerTimeoutMs: 10_000,
      reload: "on_save",
      stalledClientMs: 30_000,
      maxBodyBytes: 1_000_000,
      maxHeldBytes: 100_000_000,
      blockWarningMs: 0,
      explainRequests: 10,
      dataDirectory: "/tmp/none",
      timeZone: "UTC",
      places: { "": AT },
    },
    configSource: { source: "files", secrets: [], at: AT },
    store: {
      use: "memory",
      options: {},
      whenDown: { onStoreDown: "serve_known", maxStalenessMs: 600_000 },
      at: AT,
    },
    ledger: { at: AT },
    shared: { use: "memory", options: {}, instances: 1, at: AT },
    plugins: [{ specifier: "@sluice/standard@^1.0.0", from: "/gateway.yaml", at: AT }],
    providers: [],
    guardrails: [],
    extensions: [],
    models: [],
    keys: [],
    teams: [],
    customers: customersOf(undefined),
    tenants: NO_TENANTS,
    pipelines: [],
    prices: { find: () => undefined },
    policies: {
      require: [],
      lints: {
        step_order: "warn",
        uncovered_route: "warn",
        fallback_capability: "warn",
        unreachable_fallback: "warn",
        unreachable_target: "warn",
        untagged_requests: "warn",
        unpriced_model: "warn",
        unkept_reply: "warn",
        narrow_connections: "warn",
        weak_key: "warn",
        unreachable_limit: "warn",
      },
    },
    notices: [],
    ...parts,
  };
}

/** A provider's settings. */
export function providerOf(name: string, parts: Partial<ProviderSettings> = {}): ProviderSettings {
  const timeouts = { connectMs: 1_000, firstByteMs: 1_000, idleMs: 1_000 };
  return {
    name,
    use: "fake",
    options: {},
    at: AT,
    missing: [],
    timeouts,
    connections: 4,
    ...parts,
  };
}

/** A model's settings; targets are written `provider/model`. */
export function modelOf(
  id: string,
  targets: readonly string[],
  parts: Partial<ModelSettings> = {},
): ModelSettings {
  return {
    id,
    mode: "chat",
    targets: targets.map((target) => {
      const slash = target.indexOf("/");
      return { provider: target.slice(0, slash), model: target.slice(slash + 1), at: AT };
    }),
    accessGroups: [],
    at: AT,
    ...parts,
  };
}

/** A step definition that hands on, or whatever `parts` says. */
export function stepOf(
  name: string,
  parts: Partial<StepDefinition<never>> = {},
): StepDefinition<never> {
  return defineStep<never>({
    stability: "stable",
    summary: "A test.",
    config: { type: "object", properties: {} },
    create: () => ({ run: (_ctx, next) => next() }),
    ...parts,
    name,
  });
}

/** Definitions by name. */
export function stepsOf(
  ...definitions: readonly StepDefinition<never>[]
): ReadonlyMap<string, StepDefinition<never>> {
  return new Map(definitions.map((definition) => [definition.name, definition]));
}
