/** Snapshots from checked files. */

import { teamsOf, tenantsOf } from "./tenants/build-tenants.ts";
import { createHash } from "node:crypto";
import { dirname, relative } from "node:path";

import type { MediaFetchSettings, Operation, ProviderTimeouts } from "@sluice/contract";

import { parseDuration } from "@sluice/kit";
import { parseSize } from "@sluice/runtime";
import { customersOf } from "./build-customers.ts";
import { keysOf } from "./build-keys.ts";
import { serverOf } from "./build-server.ts";
import { deepFreeze } from "./freeze.ts";
import { modelsOf } from "./model-settings.ts";
import { noticesOf } from "./validate/notices.ts";
import type { OpenedConfig } from "./files/open.ts";
import { pluginOptions } from "./validate/plugin-section.ts";
import { isShipped, shippedName } from "./files/shipped.ts";
import { testsOf } from "./pipeline-tests.ts";
import { createPriceTable } from "./prices/prices.ts";
import type { ResolvedDocument } from "./files/references.ts";
import type { GatewaySections } from "./schema/gateway.ts";
import { type PipelineSections, routeSection } from "./schema/pipeline.ts";
import type {
  GuardrailSection,
  ProviderSection,
  StateSection,
  StoreSection,
} from "./schema/plugin-options.ts";
import type { PriceSection } from "./schema/prices.ts";
import type { ServerOverrides } from "./server-overrides.ts";
import { expiredNotices, stepUseOf } from "./validate/step-use.ts";
import type {
  GuardrailUseSettings,
  NamedUseSettings,
  PipelineSettings,
  ProviderSettings,
  ServerSettings,
  LedgerSettings,
  SharedSettings,
  StoreSettings,
  Snapshot,
  StepSettings,
} from "./snapshot.ts";

/** An edit waits for the tests. */
const MAX_TEST_BUDGET_MS = 60_000;

/** The checked parts of a configuration. */
export interface CheckedConfig {
  readonly opened: OpenedConfig;
  readonly gateway: ResolvedDocument;
  readonly pipelines: readonly ResolvedDocument[];
  readonly prices: ResolvedDocument | undefined;
  readonly overrides: ServerOverrides;
  /** Headers of extensions that carry a key. Absent: none. */
  readonly keyHeaders?: readonly string[];
}

/** The frozen snapshot of a configuration without findings. */
export function buildSnapshot(checked: CheckedConfig): Snapshot {
  const { opened, gateway } = checked;
  const sections = gateway.value as GatewaySections;
  const providers = providersOf(gateway, sections);
  const models = modelsOf(gateway, sections.models);
  const pipelines = checked.pipelines.map(pipelineOf);
  const prices = checked.prices?.value as
    | { readonly prices: Readonly<Record<string, PriceSection>> }
    | undefined;
  return deepFreeze<Snapshot>({
    digest: digestOf(checked),
    contents: contentsDigest(opened),
    files: opened.files.map((file) => ({ ...file })),
    server: withKeyHeaders(
      serverOf(gateway, sections, checked.overrides, opened.cwd),
      checked.keyHeaders ?? [],
    ),
    store: storeOf(gateway, sections),
    shared: sharedOf(gateway, sections),
    ledger: ledgerOf(gateway, sections),
    configSource: { ...sections.config, at: gateway.document.keyAt(["config"]) },
    plugins: opened.plugins.map((plugin) => ({ ...plugin })),
    providers,
    guardrails: guardrailsOf(gateway, sections),
    extensions: extensionsOf(gateway, sections),
    models,
    keys: keysOf(gateway, sections),
    teams: teamsOf(gateway, sections),
    customers: customersOf(sections.customers),
    tenants: tenantsOf(gateway, sections),
    pipelines,
    prices: createPriceTable({
      prices: prices?.prices ?? {},
      file: checked.prices?.document.file ?? "prices.yaml",
    }),
    policies: sections.policies,
    notices: [
      ...(opened.isElsewhere ? [ELSEWHERE] : []),
      ...noticesOf(providers, models),
      ...expiredNotices(pipelines, sections.server.time_zone, Date.now()),
    ],
  });
}

function storeOf({ document }: ResolvedDocument, { store }: GatewaySections): StoreSettings {
  const { on_store_down: onStoreDown, max_staleness: maxStaleness } =
    store as unknown as StoreSection;
  return {
    use: store.use,
    options: pluginOptions("store", store),
    whenDown: { onStoreDown, maxStalenessMs: milliseconds(maxStaleness) },
    at: document.keyAt(["store"]),
  };
}

function ledgerOf({ document }: ResolvedDocument, { ledger }: GatewaySections): LedgerSettings {
  return {
    ...(ledger.keep !== undefined && { keepMs: milliseconds(ledger.keep) }),
    at: document.keyAt(["ledger"]),
  };
}
const ELSEWHERE =
  "The rest of the configuration is in the store, which was not asked (config.source: postgres): sluice pull reads it, sluice push --dry-run checks files for it.";

function sharedOf({ document }: ResolvedDocument, { shared }: GatewaySections): SharedSettings {
  const { instances } = shared as unknown as StateSection;
  return {
    use: shared.use,
    options: pluginOptions("state", shared),
    instances,
    at: document.keyAt(["shared"]),
  };
}

/** `first_byte` where the operator writes none. */
const WHOLE_FIRST_BYTE = "300s";
const STREAM_FIRST_BYTE = "30s";

function providersOf(gateway: ResolvedDocument, sections: GatewaySections): ProviderSettings[] {
  return Object.entries(sections.providers).map(([name, section]) => {
    const common = section as unknown as ProviderSection;
    const unresolved = gateway.references.filter(
      ({ path, value }) => value === undefined && path[0] === "providers" && path[1] === name,
    );
    const timeouts: ProviderTimeouts = {
      connectMs: milliseconds(common.timeouts.connect),
      firstByteMs: milliseconds(common.timeouts.first_byte ?? WHOLE_FIRST_BYTE),
      streamFirstByteMs: milliseconds(common.timeouts.first_byte ?? STREAM_FIRST_BYTE),
      ...(common.timeouts.first_content !== undefined && {
        firstContentMs: milliseconds(common.timeouts.first_content),
      }),
      idleMs: milliseconds(common.timeouts.idle),
      queueMs: milliseconds(common.timeouts.queue),
    };
    return {
      name,
      use: section.use,
      options: pluginOptions("provider", section),
      at: gateway.document.keyAt(["providers", name]),
      missing: [...new Set(unresolved.map(({ written }) => written))],
      timeouts,
      connections: common.connections,
      endpoints: common.endpoints,
      accountObjects: common.account_objects,
      showsRateLimits: common.show_rate_limits,
      callHeaders: Object.fromEntries(
        Object.entries(common.call_headers).map(([name, value]) => [name.toLowerCase(), value]),
      ),
      passHeaders: common.pass_headers.map((name) => name.toLowerCase()),
      ...fetchMediaOf(common),
    };
  });
}

function fetchMediaOf({ fetch_media: section }: ProviderSection): {
  readonly fetchMedia?: MediaFetchSettings;
} {
  if (section === undefined) return {};
  return {
    fetchMedia: {
      hosts: section.hosts,
      allowOrigins: section.allow_origins,
      maxBytes: parseSize(section.max_size) ?? 0,
      timeoutMs: milliseconds(section.timeout),
      redirects: section.redirects,
      maxParallel: section.max_parallel,
    },
  };
}

function guardrailsOf(
  gateway: ResolvedDocument,
  sections: GatewaySections,
): GuardrailUseSettings[] {
  return Object.entries(sections.guardrails).map(([name, section]) => {
    const common = section as unknown as GuardrailSection;
    return {
      name,
      use: section.use,
      options: pluginOptions("guardrail", section),
      at: gateway.document.keyAt(["guardrails", name]),
      settings: {
        defaultOn: common.default_on,
        mode: common.mode,
        onError: common.on_error,
        budgetMs: common.budget_ms,
        isolation: common.isolation,
        ...(common.scope === undefined ? {} : { scope: common.scope }),
        ...(common.max_text === undefined ? {} : { maxText: common.max_text }),
      },
      onlyNamed: common.only_named,
      worker: { threads: common.worker_threads, heapBytes: parseSize(common.worker_heap) ?? 0 },
    };
  });
}

function extensionsOf(
  { document }: ResolvedDocument,
  { extensions }: GatewaySections,
): NamedUseSettings[] {
  return Object.entries(extensions).map(([name, options]) => ({
    name,
    use: name,
    options,
    at: document.keyAt(["extensions", name]),
  }));
}

function withKeyHeaders(server: ServerSettings, names: readonly string[]): ServerSettings {
  return names.length === 0
    ? server
    : { ...server, authHeaders: [...new Set([...server.authHeaders, ...names])] };
}

/** The words of models' modes, where a pipeline says them. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  embedding: "embeddings",
  image: "images",
};

/** The settings of a checked pipeline file. */
export function pipelineOf({ document, value }: ResolvedDocument): PipelineSettings {
  const sections = value as PipelineSections;
  const routes = sections.routes.map((entry, index) => {
    const { route, face } = routeSection(entry);
    const space = route.indexOf(" ");
    return {
      method: route.slice(0, space),
      path: route.slice(space + 1),
      ...(face !== undefined && { face }),
      at: document.valueAt(["routes", index]),
    };
  });
  const steps = sections.steps.map((step, index): StepSettings => ({
    use: step.use,
    options: step.with,
    index,
    at: document.keyAt(["steps", index]),
    ...stepUseOf(step),
  }));
  return {
    name: sections.pipeline,
    file: document.file,
    ...(isShipped(document.path) && { isShipped: true }),
    routes,
    operation: OPERATIONS[sections.operation] ?? sections.operation,
    deadlineMs: milliseconds(sections.deadline),
    heartbeatMs: milliseconds(sections.heartbeat),
    steps,
    tests: testsOf(document, sections),
    testBudgetMs: Math.min(milliseconds(sections.test_budget), MAX_TEST_BUDGET_MS),
    at: document.keyAt(["pipeline"]),
  };
}

function milliseconds(duration: string): number {
  return parseDuration(duration) ?? 0;
}

/**
 * SHA-256 over file contents, resolved references and overrides. A reference's value enters as its
 * own hash.
 */
function digestOf({ opened, gateway, pipelines, prices, overrides }: CheckedConfig): string {
  const home = dirname(opened.path);
  const own = new Set(opened.documents);
  const files = [
    ...opened.files.map((file) => [relative(home, file.path), file.digest]),
    ...pipelines
      .filter(({ document }) => !own.has(document.path))
      .map(({ document }) => [shippedName(document.path), document.digest]),
  ];
  const documents = [gateway, ...pipelines, ...(prices === undefined ? [] : [prices])];
  const references = documents.flatMap((document) =>
    document.references.map(({ written, value }) => [
      document.document.digest,
      written,
      value === undefined ? null : sha256(value),
    ]),
  );
  const machine = opened.own === undefined ? [] : [opened.own.document.digest];
  return sha256(JSON.stringify([files, references, overrides, ...machine]));
}

/**
 * The digest of the own files of a configuration, by their places from the gateway file, whose name
 * does not count.
 */
export function contentsDigest({ path, files }: Pick<OpenedConfig, "path" | "files">): string {
  const home = dirname(path);
  const named = files.map((file) => [
    file.path === path ? "" : relative(home, file.path),
    file.digest,
  ]);
  return sha256(
    JSON.stringify(named.toSorted(([left = ""], [right = ""]) => (left < right ? -1 : 1))),
  );
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
