/** What the session may do. The gateway decides; the page leaves out what it would refuse. */

import { useCell } from "./cell.ts";
import { type Session, sessionCell } from "../api/session.ts";
import { isAllowedOn, type ObjectPlace } from "./object-rules.ts";

/** The present session. Only below the sign-in. */
export function useSession(): Session {
  const state = useCell(sessionCell);
  if (state.is !== "in") throw new Error("There is no session.");
  return state.session;
}

/** Whether the session may do an action somewhere: `key.create`. */
export function useMay(): (action: string) => boolean {
  const { may } = useSession();
  return (action) => may.includes(action);
}

/** Whether the session may do an action on one object. */
export function useMayOn(object: ObjectPlace): (action: string) => boolean {
  const { may, roles, name } = useSession();
  return (action) =>
    may.includes(action) && isAllowedOn(action, object, { grants: roles, user: name });
}
