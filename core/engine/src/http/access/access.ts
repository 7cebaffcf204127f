/** The policy's answers to admin routes: what is allowed, refused, or not to be seen. */

import { GatewayError, POLICY, type PolicyAction, type PolicyRule } from "@sluice/contract";
import type { Access } from "./route.ts";
import { may, type Principal, visibleTo, WHOLE } from "./may.ts";

const READ_KEY_REFUSAL =
  "The key in server.admin.read_key reads GET /metrics, /config/status and /deployments only.";

/** The policy, by the table of the contract. */
export const POLICY_ACCESS: Access = {
  atWhole({ principal }, action) {
    if (!may(principal, action, WHOLE)) throw refusal(principal, action);
  },
  visible({ principal }, action) {
    const visible = visibleTo(principal, action);
    if (visible === undefined) throw refusal(principal, action);
    return visible;
  },
  check({ principal }, action, { object, missing }) {
    if (may(principal, action, object)) return;
    throw may(principal, readOf(action), object) ? refusal(principal, action) : missing();
  },
  sees({ principal }, action, { object }) {
    return may(principal, action, object) || may(principal, readOf(action), object);
  },
};

/** The refusal of an action. It names the role, and nothing of the object. */
export function refusal(principal: Principal, action: PolicyAction): GatewayError {
  if (principal.kind === "read_key") return new GatewayError("permission_denied", READ_KEY_REFUSAL);
  const { about, role, reach } = POLICY[action];
  return new GatewayError(
    "permission_denied",
    `To ${about}, the user of this key needs the role ${role} ${PLACES[reach]}. docs/roles.md lists the roles.`,
  );
}

const PLACES: Readonly<Record<PolicyRule["reach"], string>> = {
  any: "at a place of the object",
  above: "at a place that contains the object",
  whole: "at the whole gateway",
};

/** The action that reads the objects of another action. */
export function readOf(action: PolicyAction): PolicyAction {
  const kind = action.split(".", 1)[0] ?? "";
  const read = `${READ_BY[kind] ?? kind}.read`;
  return read in POLICY ? (read as PolicyAction) : action;
}

const READ_BY: Readonly<Record<string, string>> = { role: "user", gateway: "status" };
