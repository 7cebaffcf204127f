/** Refusals of what a principal may not grant. */

import { GatewayError, type Place } from "@sluice/contract";
import { isDeepStrictEqual } from "node:util";
import { type Allowing, raising } from "./bounds.ts";
import type { Principal } from "./may.ts";

/** Refuses a change that raises what a record allows. `whose` names the record. */
export function refuseRaise(before: Allowing, after: Allowing, whose: string): void {
  const field = raising(before, after);
  if (field !== undefined) throw ownRaise(whose, field);
}

/** Refuses a change of members that have no order. */
export function refuseChange<Record extends object>(
  before: Record,
  after: Record,
  members: readonly (keyof Record & string)[],
  whose: string,
): void {
  for (const name of members)
    if (!isDeepStrictEqual(before[name], after[name])) throw ownRaise(whose, name);
}

/** The refusal of a raise. `name` is a field of the routes, or the member of a record. */
export function ownRaise(whose: string, name: string): GatewayError {
  const field = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return refused(
    `The field ${field} would raise the limits of ${whose}: another administrator must do it.`,
    field,
  );
}

/** In a message: something of the caller. What the issuer of its key has is the caller's too. */
export function ofOwn({ issuer }: Principal, what: string): string {
  const own = `your own ${what}`;
  return issuer === undefined ? own : `${own} or of the user ${issuer}, who issued your key`;
}

/** A refusal by a rule about grants. */
export function refused(message: string, param?: string): GatewayError {
  return new GatewayError("permission_denied", message, param === undefined ? {} : { param });
}

/** A place, in a message. */
export function textOf(place: Place): string {
  return place.kind === "whole" ? "the whole gateway" : `the ${place.kind} ${place.id}`;
}
