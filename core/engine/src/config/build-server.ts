/** `server:` of a snapshot, from the checked section. */

import { availableParallelism } from "node:os";
import { dirname, resolve } from "node:path";
import type { Secret } from "@sluice/contract";
import { parseDuration } from "@sluice/kit";
import { parseSize, configuredNanoUsd } from "@sluice/runtime";
import { defaultHeldBytes } from "./default-held-bytes.ts";
import type { ResolvedDocument } from "./files/references.ts";
import type { PreviousKeySection } from "./schema/admin.ts";
import type { GatewaySections } from "./schema/gateway.ts";
import type { ServerOverrides } from "./server-overrides.ts";
import type {
  AutoRollbackSettings,
  KeyDefaults,
  PreviousKey,
  ServerSettings,
  TlsSettings,
} from "./server-settings.ts";
import { timeOf } from "./time-of.ts";

/** The settings of a checked `server:` section. */
export function serverOf(
  { document }: ResolvedDocument,
  { server }: GatewaySections,
  overrides: ServerOverrides,
  cwd: string,
): ServerSettings {
  const keys = Object.keys(server);
  return {
    ...(server.name !== undefined && { name: server.name }),
    host: overrides.host ?? server.host,
    port: overrides.port ?? server.port,
    admin: {
      host: server.admin.host,
      port: overrides.adminPort ?? server.admin.port,
      ...(server.admin.public_url !== undefined && { publicUrl: server.admin.public_url }),
      hosts: server.admin.hosts,
      editor: server.admin.editor,
      ...(server.admin.read_key === undefined ? {} : { readKey: server.admin.read_key as Secret }),
      ...(server.admin.previous_key === undefined
        ? {}
        : { previousKey: previousKeyOf(server.admin.previous_key, server.time_zone) }),
      ...(server.admin.keep_audit !== undefined && {
        keepAuditMs: milliseconds(server.admin.keep_audit),
      }),
    },
    ...(server.tls === undefined ? {} : { tls: tlsOf(server.tls, dirname(document.path)) }),
    workers: server.workers === "auto" ? availableParallelism() : server.workers,
    authHeaders: server.auth_headers.map((name) => name.toLowerCase()),
    errorCode: server.error_code,
    keyDefaults: keyDefaultsOf(server.key_defaults ?? {}),
    openDocs: server.open_docs,
    drainTimeoutMs: milliseconds(server.drain_timeout),
    shutdownDelayMs: milliseconds(server.shutdown_delay),
    hungWorkerTimeoutMs: milliseconds(server.hung_worker_timeout),
    reload: server.reload,
    ...(server.auto_rollback === undefined
      ? {}
      : { autoRollback: autoRollbackOf(server.auto_rollback) }),
    stalledClientMs: milliseconds(server.stalled_client_timeout),
    maxBodyBytes: parseSize(server.max_body) ?? 0,
    maxHeldBytes: heldBytes(server),
    blockWarningMs: milliseconds(server.block_warning),
    explainRequests: server.explain_requests,
    ...(server.cors === undefined
      ? {}
      : { cors: { origins: server.cors.origins, maxAgeMs: milliseconds(server.cors.max_age) } }),
    dataDirectory: resolve(cwd, server.data_directory),
    timeZone: server.time_zone,
    places: Object.fromEntries([
      ["", document.keyAt(["server"])],
      ...keys.map((key) => [key, document.keyAt(["server", key])] as const),
    ]),
  };
}

function heldBytes({ max_held: held, max_body: body }: GatewaySections["server"]): number {
  return (
    (held === undefined ? undefined : parseSize(held)) ?? defaultHeldBytes(parseSize(body) ?? 0)
  );
}

function previousKeyOf({ key, until }: PreviousKeySection, zone: string): PreviousKey {
  return { key: key as Secret, untilMs: timeOf(until, zone) ?? 0 };
}

function tlsOf(
  section: NonNullable<GatewaySections["server"]["tls"]>,
  folder: string,
): TlsSettings {
  return { certificate: resolve(folder, section.certificate), key: resolve(folder, section.key) };
}

function keyDefaultsOf(
  section: NonNullable<GatewaySections["server"]["key_defaults"]>,
): KeyDefaults {
  const {
    max_budget: dollars,
    budget_duration: budgetDuration,
    rpm,
    tpm,
    max_parallel_requests: maxParallelRequests,
  } = section;
  return {
    ...(dollars === undefined ? {} : { maxBudgetNanoUsd: configuredNanoUsd(dollars) }),
    ...(budgetDuration === undefined ? {} : { budgetDuration }),
    ...(rpm === undefined ? {} : { rpm }),
    ...(tpm === undefined ? {} : { tpm }),
    ...(maxParallelRequests === undefined ? {} : { maxParallelRequests }),
  };
}

function autoRollbackOf(
  section: NonNullable<GatewaySections["server"]["auto_rollback"]>,
): AutoRollbackSettings {
  const share = (percent: string): number => Number.parseInt(percent, 10) / 100;
  return {
    errorRate: share(section.error_rate),
    onlyBelow: share(section.only_below),
    minRequests: section.min_requests,
    forMs: milliseconds(section.for),
  };
}

function milliseconds(duration: string): number {
  return parseDuration(duration) ?? 0;
}
