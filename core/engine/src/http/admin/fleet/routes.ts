/** Admin routes for the fleet: the instances that share the store, and their rollouts. */

import { GatewayError, type JsonObject } from "@sluice/contract";
import { parseDuration } from "@sluice/kit";
import type { FleetCommands, FleetReload } from "../../../fleet/commands.ts";
import type { Fleet } from "../../../fleet/fleet.ts";
import { doAgree, joinInstances } from "../../../fleet/join-instances.ts";
import { outcomesOf } from "../../../fleet/outcomes.ts";
import { type AdminRoutes, atWhole } from "../../access/route.ts";
import { readAuthor, readCanary } from "../config/body-fields.ts";
import { describeAttempt } from "../config/describe-status.ts";
import { invalid, readText } from "../fields.ts";
import { describeInstance, describeRollout } from "./describe.ts";

/** The parts of the process that the routes read and change. */
export interface FleetRouteParts {
  readonly fleet: Fleet;
}

const DEFAULT_WAIT_MS = 120_000;
const MAX_WAIT_MS = 3_600_000;

/** The routes. Without other instances the fleet is this one. */
export function fleetRoutes({ fleet }: FleetRouteParts): AdminRoutes {
  const { membership, commands } = fleet;
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
        const { result, rollout } = await present(commands).reload(asked);
        return {
          ...describeAttempt(result),
          contents: result.contents ?? null,
          rollout: rollout ?? null,
        };
      });
    }),
  };
}

function present(commands: FleetCommands | undefined): FleetCommands {
  if (commands !== undefined) return commands;
  const message =
    "The store of this gateway keeps no fleet: it is in memory. Reload this gateway alone.";
  throw new GatewayError("not_found", message);
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
