/** Admin routes for the fleet: the instances that share the store, and their rollouts. */

import { GatewayError, type JsonObject, type JsonValue } from "@sluice/contract";
import { parseDuration } from "@sluice/kit";
import type { FleetCommands, FleetReload } from "../../../fleet/commands.ts";
import type { Fleet } from "../../../fleet/fleet.ts";
import { doAgree, joinInstances } from "../../../fleet/join-instances.ts";
import { outcomesOf } from "../../../fleet/outcomes.ts";
import { isPushedName, type StoredConfig } from "../../../fleet/push.ts";
import type { ApplyResult } from "../../../generation/rollout/apply.ts";
import { type AdminRoutes, atWhole } from "../../access/route.ts";
import {
  readAuthor,
  readCanary,
  readFiles,
  readFlag,
  readGeneration,
} from "../config/body-fields.ts";
import { describeImpact } from "../config/describe-impact.ts";
import { describeAttempt } from "../config/describe-status.ts";
import { keyNeeded } from "../detailed-error.ts";
import { invalid, readText } from "../fields.ts";
import { describeInstance, describeReports, describeRollout } from "./describe.ts";

/** The parts of the process that the routes read and change. */
export interface FleetRouteParts {
  readonly fleet: Fleet;
}

const DEFAULT_HISTORY = 20;
const DEFAULT_WAIT_MS = 120_000;
const MAX_WAIT_MS = 3_600_000;

/** The routes. Without other instances the fleet is this one. */
export function fleetRoutes(parts: FleetRouteParts): AdminRoutes {
  return { ...readingRoutes(parts), ...changingRoutes(parts) };
}

function readingRoutes({ fleet }: FleetRouteParts): AdminRoutes {
  const { membership } = fleet;
  return {
    "GET /fleet": atWhole("status.read", async () => {
      const [{ nowMs, records, isCurrent }, newest] = await Promise.all([
        membership.list(),
        fleet.newest(),
      ]);
      const instances = joinInstances(records, nowMs, membership.reportEveryMs);
      const outcomeOf = newest && outcomesOf(newest.reports);
      return {
        as_of: new Date(nowMs).toISOString(),
        store_answers: isCurrent,
        agree: doAgree(instances),
        rollout: newest === undefined ? null : describeRollout(newest.record, newest.reports),
        instances: instances.map((instance) =>
          describeInstance(instance, membership.id, outcomeOf?.(instance.id)),
        ),
      };
    }),
    "GET /fleet/history": atWhole("config.read", async ({ query }) => {
      const limit = Number(query.get("limit") || DEFAULT_HISTORY);
      const [{ records }, history] = await Promise.all([
        membership.list(),
        present(fleet.rollouts).history(limit),
      ]);
      const names = new Map(records.map(({ id, name }) => [id, name]));
      return {
        rollouts: history.map(({ record, reports }) => ({
          ...describeRollout(record, reports),
          instances: describeReports(reports, (id) => names.get(id)),
        })),
      };
    }),
    "GET /fleet/files": atWhole("config.read", async ({ query }) => {
      const of = query.get("of") || null;
      const id = of === null ? undefined : readGeneration(Number(of));
      const { generation, contents, files } = await stored(fleet.config).files(id);
      return { generation, contents, files };
    }),
  };
}

function changingRoutes({ fleet }: FleetRouteParts): AdminRoutes {
  const { commands, config } = fleet;
  return {
    "POST /fleet/forget": atWhole("gateway.restart", async (request) => {
      const id = readText(request.body["instance"] ?? null, "instance");
      const change = { kind: "instance", id };
      return request.audit.attempt(request, change, async () => {
        if (await fleet.forget(id)) return { forgotten: id };
        throw new GatewayError("not_found", `No instance ${id} has reported.`, {
          param: "instance",
        });
      });
    }),
    "POST /fleet/reload": atWhole("config.reload", async (request) => {
      const { body } = request;
      const asked = readReload(body);
      const { author, force } = asked;
      const { canary = null } = body;
      const after = { fleet: true, ...(force !== undefined && { force }), canary };
      return request.audit.attempt(request, { author, after }, async () => {
        const { result, rollout } = await inFiles(commands, config).reload(asked);
        return { ...describeAttempt(result), ...ofRollout(result, rollout) };
      });
    }),
    "POST /fleet/push": atWhole("config.push", async (request) => {
      const { body } = request;
      const { base = null, force = null, canary = null, dry_run: isDry = false } = body;
      const author = readAuthor(body);
      const asked = {
        files: readTexts(body["files"] ?? null),
        base: readGeneration(base),
        force: force === null ? undefined : readText(force, "force"),
        author,
        canary: readCanary(canary),
        isDry: readFlag(isDry, "dry_run"),
      };
      const configuration = stored(config);
      if (!request.isConfirmed && !asked.isDry)
        throw keyNeeded("push", ["a push may send credentials to other addresses"]);
      const push = async () => {
        const { result, rollout, effects } = await configuration.push(asked);
        const attempt = describeAttempt(result as ApplyResult);
        return {
          ...attempt,
          ...ofRollout(result, rollout),
          ...describeImpact({ effects, replay: undefined }),
        };
      };
      if (asked.isDry) return push();
      const after = { files: Object.keys(asked.files), ...(force !== null && { force }), canary };
      return request.audit.attempt(request, { author, after }, push);
    }),
  };
}

function ofRollout(result: { readonly contents: string | undefined }, rollout: number | undefined) {
  return { contents: result.contents ?? null, rollout: rollout ?? null };
}

function present<T>(part: T | undefined): T {
  if (part !== undefined) return part;
  const message =
    "The store of this gateway keeps no fleet: it is in memory. Reload this gateway alone.";
  throw new GatewayError("not_found", message);
}

function inFiles(
  commands: FleetCommands | undefined,
  config: StoredConfig | undefined,
): FleetCommands {
  if (config === undefined) return present(commands);
  const message =
    "The configuration of this gateway is in the store: sluice push applies another one at all instances.";
  throw new GatewayError("invalid_field", message);
}

function stored(config: StoredConfig | undefined): StoredConfig {
  if (config !== undefined) return config;
  const message =
    "The configuration of this gateway is in files. With config.source: postgres it is in the store, and can be pushed.";
  throw new GatewayError("invalid_field", message, { param: "files" });
}

/** Files by name, each a text. */
function readTexts(value: JsonValue): Readonly<Record<string, string>> {
  const files = readFiles(value);
  for (const [name, text] of Object.entries(files))
    if (text === null || !isPushedName(name))
      throw invalid(
        "files",
        `${JSON.stringify(name)} must be a name such as pipelines/chat.yaml, and its contents a text.`,
      );
  return files as Readonly<Record<string, string>>;
}

function readReload(body: JsonObject): FleetReload {
  const { force = null, canary = null, wait = null } = body;
  const waitMs = wait === null ? DEFAULT_WAIT_MS : parseDuration(readText(wait, "wait"));
  if (waitMs === undefined || waitMs < 1_000 || waitMs > MAX_WAIT_MS)
    throw invalid("wait", "The field wait must be a time from 1s to 1h, such as 2m.");
  return {
    force: force === null ? undefined : readText(force, "force"),
    author: readAuthor(body),
    canary: readCanary(canary),
    waitMs,
  };
}
