/** What routes share that give a key a secret. */

import { randomBytes } from "node:crypto";
import type { GatewayError, JsonObject, KeyConflict } from "@sluice/contract";
import { type Changes, invalid } from "./fields.ts";
import { existingKey } from "./keys/given-key.ts";
import { endOfSpan, SPAN_FORMS } from "./span.ts";

/** 256 random bits after the specified prefix. */
export function newKey(): string {
  return `sk-${randomBytes(32).toString("base64url")}`;
}

/** The end of the old secret; `null`: at once. Throws `invalid_field`. */
export function graceEnd({ grace_period: grace = null }: JsonObject, nowMs: number): number | null {
  if (grace === null) return null;
  const endMs = typeof grace === "string" ? endOfSpan(grace, nowMs) : undefined;
  if (endMs === undefined)
    throw invalid(
      "grace_period",
      `The field grace_period must be a span of time, such as 0s, ${SPAN_FORMS}.`,
    );
  return endMs === nowMs ? null : endMs;
}

/** The refusal of a key that the store did not take. */
export function keyConflict(outcome: KeyConflict, members: Changes["members"]): GatewayError {
  const { alias, teamId } = members;
  if (outcome === "no-team") {
    return invalid(
      "team_id",
      `The team ${JSON.stringify(teamId)} does not exist. Make it with POST /team/new or \`sluice teams create\`.`,
    );
  }
  if (outcome === "missing") return missingOwner(members);
  if (outcome === "border") {
    return invalid(
      "organization_id",
      "The organization of the key, or that of its budget, is not that of its team.",
    );
  }
  if (outcome === "imported" || typeof alias !== "string") return existingKey();
  return invalid(
    "key_alias",
    `Another key has the alias ${JSON.stringify(alias)}. Choose an alias that no key has.`,
  );
}

/** The refusal of a key whose budget or organization does not exist. */
function missingOwner({ budgetId, organizationId }: Changes["members"]): GatewayError {
  const budget = `the budget ${JSON.stringify(budgetId)}`;
  const organization = `the organization ${JSON.stringify(organizationId)}`;
  // An id may be the amount that was meant.
  const amount = Number.isNaN(Number(budgetId)) ? "" : " An amount of money is max_budget.";
  if (typeof budgetId !== "string")
    return invalid("organization_id", `${capitalized(organization)} does not exist.`);
  if (typeof organizationId !== "string")
    return invalid("budget_id", `${capitalized(budget)} does not exist.${amount}`);
  return invalid(
    "organization_id",
    `${capitalized(organization)}, or ${budget}, does not exist.${amount}`,
  );
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
