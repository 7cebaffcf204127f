/** Makes both Koa apps of a process. */

import type { RequestListener } from "node:http";
import { createRequestMetrics } from "./accounting/request-metrics.ts";
import { NO_TENANTS } from "./config/tenants/declared-tenants.ts";
import { createUsageSampler } from "./accounting/usage/sampler.ts";
import { createFamilyFactors } from "./counting/family-factor.ts";
import type { GatewayProcess } from "./create-process.ts";
import { coverageOf } from "./lint/coverage.ts";
import { describeCoverage } from "./lint/describe-coverage.ts";
import type { Position, Snapshot } from "./config/snapshot.ts";
import { ConfigDiff } from "./generation/diff/config-diff.ts";
import { wholeEdits } from "./fleet/whole-edits.ts";
import { runTestsAlone } from "./check-config.ts";
import { createAdminApp } from "./http/admin/app.ts";
import { Audit } from "./http/access/audit.ts";
import type { Identity } from "@sluice/contract";
import type { AdminRoutes } from "./http/access/route.ts";
import { Grants } from "./http/access/grants.ts";
import { principalOf } from "./http/access/principals.ts";
import { supervisorProof } from "./http/access/forwarded.ts";
import { auditRoute } from "./http/admin/audit.ts";
import { previousKeyView } from "./http/admin/config/previous-key.ts";
import { configRoutes } from "./http/admin/config/routes.ts";
import { completeRoute } from "./http/admin/config/complete-route.ts";
import { fileEditRoutes } from "./http/admin/config/edit/routes.ts";
import { CandidateTests } from "./http/admin/config/edit/tests.ts";
import { ConfigWriter } from "./http/admin/config/edit/writer.ts";
import { fleetRoutes } from "./http/admin/fleet/routes.ts";
import { deploymentRoutes } from "./http/admin/deployments.ts";
import { keyIdOf } from "./http/admin/find-key.ts";
import { keyBulkRoute } from "./http/admin/keys/bulk.ts";
import { keyListRoutes } from "./http/admin/keys/list.ts";
import { guardrailRoutes } from "./http/admin/guardrails/routes.ts";
import { importRoutes } from "./http/admin/imports/routes.ts";
import { keyRoutes } from "./http/admin/keys/routes.ts";
import { addStateMetrics, metricRoutes } from "./http/admin/metrics.ts";
import { modelRoutes } from "./http/admin/models/routes.ts";
import { type FileSchemas, fileSchemas } from "./http/admin/pipelines/schemas.ts";
import { pipelineRoutes } from "./http/admin/pipelines/routes.ts";
import { playgroundRoutes } from "./http/admin/playground/routes.ts";
import { requestListRoute } from "./http/admin/request-list.ts";
import { requestRoutes } from "./http/admin/requests.ts";
import { restartRoute } from "./http/admin/restart.ts";
import { overviewRoute } from "./http/admin/overview/routes.ts";
import { sessionRoutes } from "./http/admin/sessions.ts";
import { budgetRoutes, spendRoutes } from "./http/admin/spend/routes.ts";
import { storedNames } from "./http/admin/stored-names.ts";
import { checkRoute } from "./http/admin/system/checks.ts";
import { systemRoute } from "./http/admin/system/routes.ts";
import { teamRoutes } from "./http/admin/teams.ts";
import { teamsWithDeclared, tenantsWithDeclared } from "./http/access/with-declared.ts";
import { memberRoutes } from "./http/admin/tenants/members.ts";
import type { TenantRouteParts } from "./http/admin/tenants/parts.ts";
import { tenantRoutes } from "./http/admin/tenants/routes.ts";
import { adminExtension } from "./http/extensions/admin.ts";
import type { OwnListeners } from "./http/extensions/inside.ts";
import { withDocument } from "./http/openapi/admin-document.ts";
import { SelfService } from "./http/self/routes.ts";
import { SignInAttempts } from "./http/ui/attempts.ts";
import { Sessions } from "./http/ui/sessions.ts";
import { presentedBy } from "./http/intake/presented.ts";
import { withFairTurns } from "./http/listener/fair-turns.ts";
import { type Admission, createPublicApp } from "./http/public.ts";

/** The app of clients. */
export function createPublic(
  parts: GatewayProcess,
  admission: Admission,
  listeners: OwnListeners,
): RequestListener {
  const { log, clock, ledger, tokens, recent, metrics, manager, sealer } = parts;
  const { authHeaders } = parts.snapshot.server;
  const counting = { tokens, factors: createFamilyFactors() };
  const app = createPublicApp({
    log,
    clock,
    sealer,
    ledger,
    counting,
    sample: createUsageSampler(counting, clock),
    recent,
    metrics: createRequestMetrics(metrics),
    generations: manager,
    admission,
    authHeaders,
    isReady: readiness(parts, admission),
    self: new SelfService({
      ...keyPartsOf(parts),
      tenants: parts.store.tenants,
      audit: new Audit({ store: parts.store, clock, log }),
    }),
    listeners,
  });
  listeners.public = app.callback();
  return withFairTurns(listeners.public, (request) => presentedBy(request, authHeaders));
}

/**
 * How long a gateway that refuses budgets is not ready: others serve meanwhile. It is ready again
 * after that, because an outage of all stores must not take every gateway out of service.
 */
const REFUSAL_MS = 60_000;

function readiness(
  { manager, ledger, validity, fleet, state, clock }: GatewayProcess,
  admission: Admission,
): () => boolean {
  const refusesBudgets = (): boolean =>
    clock.monotonic() - (state.refusesBudgetsSinceMs ?? -Infinity) <= REFUSAL_MS;
  return () =>
    admission.phase === "serving" &&
    manager.live !== undefined &&
    !fleet.isEmpty() &&
    ledger.health().fault === undefined &&
    !refusesBudgets() &&
    (validity.health?.servesKnown ?? true);
}

/** The app of administration. */
export function createAdmin(
  parts: GatewayProcess,
  admission: Admission,
  listeners: OwnListeners,
): RequestListener {
  const { log, clock, keyRing, shared, ledger, metrics, manager, edits, state } = parts;
  addStateMetrics(metrics, {
    edits,
    shared,
    ledger,
    state,
    storeHealth: () => parts.validity.health,
    leader: () => parts.leader.view,
    waitingForRestart: () => parts.pluginFiles.waiting,
  });
  const isReady = readiness(parts, admission);
  const authority = authorityOf(parts);
  const app = createAdminApp(
    {
      extension: adminExtension(() => manager.live, { clock, listeners, isReady }),
      keyRing,
      headerNames: parts.snapshot.server.authHeaders,
      readKey: () => manager.live?.snapshot.server.admin.readKey,
      ...authority,
      ...(parts.options.worker === undefined && { browser: parts.snapshot.server.admin }),
      isStopping: () => admission.phase !== "serving",
      clock,
      log,
    },
    adminRoutes(parts, authority.sessions.sessions, listeners),
  );
  return (listeners.admin = app.callback());
}

/** What decides what a caller may do, and records it. */
function authorityOf({ store, clock, log, installation, manager, keyRing }: GatewayProcess) {
  const { keys, tenants } = store;
  const declared = {
    teams: () => manager.live?.snapshot.teams ?? [],
    tenants: () => manager.live?.snapshot.tenants ?? NO_TENANTS,
  };
  const parts = {
    keys,
    teams: teamsWithDeclared(store.teams, declared),
    clock,
    ...(tenants !== undefined && { tenants: tenantsWithDeclared(tenants, declared) }),
  };
  const ofIdentity = (identity: Identity) => principalOf(identity, parts);
  const sessions = new Sessions({
    store: store.sessions,
    keyRing,
    keys,
    principalOf: ofIdentity,
    clock,
  });
  return {
    principalOf: ofIdentity,
    sessions: { sessions, attempts: new SignInAttempts(clock) },
    audit: new Audit({ store, clock, log }),
    grants: new Grants({ ...parts, declared: () => manager.live?.snapshot }),
    proof: supervisorProof(installation.pepper),
  };
}

/** The routes of the admin listener. `listeners`: those that the playground calls. */
export function adminRoutes(
  parts: GatewayProcess,
  sessions: Sessions,
  listeners: OwnListeners,
): AdminRoutes {
  return withDocument(ownRoutes(parts, sessions, listeners), parts.snapshot.server.authHeaders);
}

function ownRoutes(
  parts: GatewayProcess,
  sessions: Sessions,
  listeners: OwnListeners,
): AdminRoutes {
  const { store, ledger, recent, metrics, options, manager } = parts;
  const keyParts = keyPartsOf(parts);
  const tenantParts = tenantPartsOf(parts, keyParts);
  const schemas = fileSchemas(parts.definitions);
  return {
    ...keyRoutes(keyParts),
    ...keyListRoutes(keyParts),
    ...keyBulkRoute(keyParts),
    ...importRoutes({ ...keyParts, ...(tenantParts !== undefined && { tenants: tenantParts }) }),
    ...teamRoutes(keyParts),
    ...(tenantParts !== undefined && recordRoutes(tenantParts)),
    ...editRoutes(parts, schemas),
    ...pipelineRoutes({ ...pipelinePartsOf(parts), schemas }),
    ...restartRoute(),
    ...fleetRoutes(parts),
    ...auditRoute(store.audit),
    ...sessionRoutes(sessions),
    ...deploymentRoutes(parts),
    ...modelRoutes(parts),
    ...systemRoute(systemPartsOf(parts)),
    ...checkRoute({ ...parts, environment: options.environment, live: () => manager.live }),
    ...guardrailRoutes({ ledger, clock: parts.clock, live: () => parts.manager.live }),
    ...playgroundRoutes({ ...keyParts, live: () => parts.manager.live, listeners }),
    ...overviewRoute(overviewPartsOf(parts)),
    ...requestRoutes(recent, ledger),
    ...requestListRoute(recent, ledger, (asked) => keyIdOf(keyParts, asked)),
    ...spendRoutes(ledger, (asked) => keyIdOf(keyParts, asked)),
    ...budgetRoutes(overviewPartsOf(parts)),
    ...metricRoutes(metrics),
  };
}

function pipelinePartsOf(parts: GatewayProcess) {
  const { store, definitions } = parts;
  return {
    ...parts,
    hasName: storedNames(store.keys, store.teams),
    coverageOf: (snapshot: Snapshot, unknown: readonly Position[]) =>
      coverageOf({ snapshot, definitions, unknown }).map(describeCoverage),
  };
}

function systemPartsOf(parts: GatewayProcess) {
  const { options, ledger, state, validity } = parts;
  return {
    ...parts,
    worker: options.worker?.number,
    ledgerHealth: () => ledger.health(),
    storeHealth: () => validity.health,
    isStateAway: () => state.isAway,
  };
}

function overviewPartsOf(parts: GatewayProcess) {
  const { ledger, pluginFiles, state } = parts;
  return {
    ...parts,
    ledgerHealth: () => ledger.health(),
    waitingForRestart: () => pluginFiles.waiting,
    isStateAway: () => state.isAway,
  };
}

function keyPartsOf(parts: GatewayProcess) {
  const { store, keyRing, ledger, clock, snapshot, manager, shared, state } = parts;
  const { keys, teams, tenants } = store;
  return {
    keys,
    teams,
    records: tenants && { keys, teams, tenants },
    declaredTenants: () => manager.live?.snapshot.tenants ?? NO_TENANTS,
    keyRing,
    ledger,
    clock,
    timeZone: snapshot.server.timeZone,
    declared: () => manager.live?.snapshot.keys ?? [],
    declaredTeams: () => manager.live?.snapshot.teams ?? [],
    readKey: () => manager.live?.snapshot.server.admin.readKey,
    defaults: () => manager.live?.snapshot.server.keyDefaults ?? {},
    shared,
    isStateAway: () => state.isAway,
  };
}

/** What the routes of tenants are made from; `undefined` where the store keeps none. */
function tenantPartsOf(
  { log }: GatewayProcess,
  parts: ReturnType<typeof keyPartsOf>,
): TenantRouteParts | undefined {
  const { records } = parts;
  return records && { ...parts, records, log };
}

function recordRoutes(parts: TenantRouteParts) {
  return { ...tenantRoutes(parts), ...memberRoutes(parts) };
}

function editRoutes(parts: GatewayProcess, schemas: () => FileSchemas) {
  const { place, store, keyRing, ledger, clock, definitions, manager, history } = parts;
  const { edits, fleet, pluginFiles, validity, leader, snapshot } = parts;
  const { keys, teams } = store;
  const requests = { ledger, keys, teams };
  const configDiff = new ConfigDiff({ place, definitions, manager, history, requests });
  const whole = wholeEdits(edits, fleet);
  const { editor: mode } = snapshot.server.admin;
  const tests = new CandidateTests((candidate, signal) =>
    runTestsAlone(candidate, definitions, undefined, signal),
  );
  const look = (): Promise<void> => fleet.look();
  const stored = fleet.config;
  const writer = new ConfigWriter({ place, edits, whole, configDiff, tests, mode, stored, look });
  const routes = configRoutes({
    edits,
    whole,
    configDiff,
    editor: mode,
    source: stored === undefined ? "files" : "store",
    hasName: storedNames(keys, teams),
    ledgerHealth: () => ledger.health(),
    storeHealth: () => validity.health,
    leader: () => leader.view,
    waitingForRestart: () => pluginFiles.waiting,
    previousKey: () =>
      previousKeyView(
        manager.live?.snapshot.server.admin.previousKey,
        keyRing.previousMasterUse,
        clock.now(),
      ),
  });
  const completion = completeRoute({ edits, configDiff, schemas });
  return { ...routes, ...completion, ...fileEditRoutes({ writer, tests }) };
}
