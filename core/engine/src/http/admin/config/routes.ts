/** Admin routes for the configuration: status, history, comparison, and changes. */

import type { JsonObject } from "@sluice/contract";
import type { EditorMode } from "../../../config/server-settings.ts";
import type { CanaryEnd } from "../../../generation/rollout/canary/canary.ts";
import type { ConfigEdits } from "../../../generation/rollout/edits.ts";
import type { ConfigDiff } from "../../../generation/diff/config-diff.ts";
import type { HasName } from "../../../pipeline/steps/condition-names.ts";
import type { LedgerHealth } from "../../../accounting/ledger/ledger.ts";
import type { LeaderView } from "../../../fleet/leader.ts";
import type { WholeEdits } from "../../../fleet/whole-edits.ts";
import type { StoreHealth } from "../../../resources/store/validity.ts";
import { VERSION } from "../../../telemetry/version.ts";
import { type AdminRoute, type AdminRoutes, atWhole } from "../../access/route.ts";
import { within } from "../time-query.ts";
import {
  readAuthor,
  readCanary,
  readFiles,
  readFlag,
  readGeneration,
  readSide,
} from "./body-fields.ts";
import { readText, refuseUnknown } from "../fields.ts";
import { filesDigest } from "./edit/present-files.ts";
import { describeImpact } from "./describe-impact.ts";
import {
  describeAttempt,
  describeEntry,
  describeFinding,
  describeLedger,
  describeLeader,
  describeStore,
  describeStatus,
} from "./describe-status.ts";

/** The parts of the process that the routes read and change. */
export interface ConfigRouteParts {
  readonly edits: ConfigEdits;
  /** Edits that may be for all instances. */
  readonly whole: WholeEdits;
  readonly configDiff: ConfigDiff;
  readonly hasName: HasName;
  readonly ledgerHealth: () => LedgerHealth;
  readonly storeHealth: () => StoreHealth | undefined;
  readonly leader: () => LeaderView;
  /** What waits for a restart. */
  readonly waitingForRestart: () => readonly string[];
  /** `server.admin.editor` of the start. */
  readonly editor: EditorMode;
  readonly source: "files" | "store";
  /** The state of `server.admin.previous_key`; `null` without one. */
  readonly previousKey: () => JsonObject | null;
}

/**
 * The routes. A refusal is an answer, with status 200 and `"outcome": "refused"`, because the
 * request itself was valid.
 */
export function configRoutes(parts: ConfigRouteParts): AdminRoutes {
  return { ...statusRoutes(parts), ...editRoutes(parts), ...comparisonRoutes(parts) };
}

/** What runs and what ran. */
function statusRoutes(parts: ConfigRouteParts): AdminRoutes {
  const { edits, hasName } = parts;
  return {
    "GET /config/status": atWhole("status.read", async () => {
      return {
        version: VERSION,
        name: edits.status.live?.snapshot.server.name ?? null,
        source: parts.source,
        ...(await describeStatus(edits.status, hasName)),
        waiting_for_restart: parts.waitingForRestart(),
        previous_key: parts.previousKey(),
        ledger: describeLedger(parts.ledgerHealth()),
        store: describeStore(parts.storeHealth()),
        leader: describeLeader(parts.leader()),
      };
    }),
    "GET /config/history": atWhole("config.read", async ({ query }) => {
      refuseUnknown(query.keys(), ["since", "until"], "query parameter");
      const isAsked = within(query);
      const { entries, attempts } = edits.history;
      const live = edits.status.live?.number;
      return {
        generations: entries
          .filter(isAsked)
          .toReversed()
          .map((entry) => describeEntry(entry, live)),
        attempts: attempts.filter(isAsked).toReversed().map(describeAttempt),
      };
    }),
  };
}

/** Changes of what runs. */
function editRoutes(parts: ConfigRouteParts): AdminRoutes {
  const { whole } = parts;
  return {
    "POST /config/reload": atWhole("config.reload", async (request) => {
      const { body } = request;
      refuseUnknown(Object.keys(body), ["force", "canary", "author"], "field");
      const { force = null, canary = null } = body;
      const digest = force === null ? undefined : readText(force, "force");
      const plan = readCanary(canary);
      const author = readAuthor(body);
      const after = { ...(digest !== undefined && { force: digest }), ...(plan && { canary }) };
      return request.audit.attempt(request, { author, after }, async () =>
        describeAttempt(await whole.reload(digest, plan, author)),
      );
    }),
    "POST /config/canary/promote": endCanary(parts, "promoted"),
    "POST /config/canary/abort": endCanary(parts, "returned"),
    "POST /config/rollback": atWhole("config.rollback", async (request) => {
      const { body } = request;
      refuseUnknown(Object.keys(body), ["generation", "author"], "field");
      const generation = readGeneration(body["generation"] ?? null);
      const author = readAuthor(body);
      const after = generation === undefined ? {} : { generation };
      return request.audit.attempt(request, { author, after }, async () =>
        describeAttempt(await whole.rollback(generation, author, request.isAudited === true)),
      );
    }),
  };
}

function endCanary({ whole }: ConfigRouteParts, end: CanaryEnd): AdminRoute {
  return atWhole("config.canary", async (request) => {
    refuseUnknown(Object.keys(request.body), ["author"], "field");
    const author = readAuthor(request.body);
    return request.audit.attempt(request, { author, after: { canary: end } }, async () =>
      describeAttempt(await whole.endCanary(end, author, request.isAudited === true)),
    );
  });
}

/** What files and texts hold, and what they would change. */
function comparisonRoutes(parts: ConfigRouteParts): AdminRoutes {
  const { edits, configDiff } = parts;
  return {
    "GET /config/files": atWhole("config.read", async ({ query }) => {
      refuseUnknown(query.keys(), ["of"], "query parameter");
      const of = query.get("of") ?? "running";
      const side = readSide(/^\d{1,15}$/.test(of) ? Number(of) : of, "of");
      const files = configDiff.filesOf(side, "of");
      const reload = edits.status.live?.snapshot.server.reload ?? "on_save";
      const { editor, source } = parts;
      return { of: side, digest: filesDigest(files), editor, source, reload, files };
    }),
    "POST /config/validate": atWhole("config.preview", async ({ body }) => {
      refuseUnknown(Object.keys(body), ["files", "replay"], "field");
      const isReplayed = readFlag(body["replay"] ?? false, "replay");
      const opened = edits.overlaid(readFiles(body["files"] ?? {}));
      const { digest, isUnchanged, findings, snapshot } = edits.review(opened);
      return {
        outcome: findings.length > 0 ? "refused" : isUnchanged ? "unchanged" : "applicable",
        digest: digest ?? null,
        findings: findings.map(describeFinding),
        ...(snapshot === undefined
          ? {}
          : describeImpact(await configDiff.of(snapshot, isReplayed))),
      };
    }),
    "POST /config/diff": atWhole("config.preview", async ({ body }) => {
      refuseUnknown(Object.keys(body), ["from", "to", "replay"], "field");
      const isReplayed = readFlag(body["replay"] ?? false, "replay");
      const from = readSide(body["from"] ?? "running", "from");
      const to = readSide(body["to"] ?? "files", "to");
      return { from, to, ...describeImpact(await configDiff.compare(from, to, isReplayed)) };
    }),
  };
}
