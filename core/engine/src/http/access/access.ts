/** The policy's answers to admin routes: what is allowed, refused, or not to be seen. */

import { GatewayError, POLICY, type PolicyAction, type PolicyRule } from "@sluice/contract";
import type { Asker } from "./audit.ts";
import { may, type PolicyObject, type Principal, type Visible, visibleTo, WHOLE } from "./may.ts";
import type { Access, Located } from "./route.ts";

const READ_KEY_REFUSAL =
  "The key in server.admin.read_key reads GET /metrics, /config/status and /deployments only.";

/** The policy for one request. It keeps the object of a refusal, for the audit. */
export class RequestAccess implements Access {
  readonly #principal: Principal;
  readonly #action: PolicyAction;
  /** The object that was refused. */
  refused: PolicyObject | undefined;

  constructor({ principal, action }: Pick<Asker, "principal" | "action">) {
    this.#principal = principal;
    this.#action = action;
  }

  atWhole(): void {
    if (!may(this.#principal, this.#action, WHOLE)) throw this.#refuse(WHOLE);
  }

  visible(): Visible {
    const visible = visibleTo(this.#principal, this.#action);
    if (visible === undefined) throw this.#refuse(WHOLE);
    return visible;
  }

  check({ object, missing }: Located<unknown>): void {
    if (may(this.#principal, this.#action, object)) return;
    const failure = this.#refuse(object);
    throw may(this.#principal, readOf(this.#action), object) ? failure : missing();
  }

  sees({ object }: Located<unknown>): boolean {
    return (
      may(this.#principal, this.#action, object) ||
      may(this.#principal, readOf(this.#action), object)
    );
  }

  #refuse(object: PolicyObject): GatewayError {
    this.refused = object;
    return refusal(this.#principal, this.#action);
  }
}

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
