/** What the session may do. The gateway decides; the page leaves out what it would refuse. */

import { useCell } from "./cell.ts";
import { type Session, sessionCell } from "../api/session.ts";

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
