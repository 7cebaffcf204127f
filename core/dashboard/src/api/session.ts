/** The session of the browser: opened with a key or a code, read after a reload, ended. */

import { type ApiError, asApiError } from "./api-error.ts";
import type { AdminAnswer } from "@sluice/admin-api";
import {
  change,
  forgetAnswers,
  get,
  post,
  setConfirmation,
  setCsrf,
  whenSignedOut,
} from "./client.ts";
import { createCell } from "../app/cell.ts";
import type { Grant } from "../app/object-rules.ts";
import { go } from "../app/route.ts";

/** `GET /ui/session`. */
export interface Session {
  readonly session: string;
  readonly role: "viewer" | "keys" | "operator" | "admin" | null;
  readonly name: string | null;
  readonly roles: readonly Grant[];
  readonly may: readonly string[];
  readonly csrf: string;
  readonly expires_at: string;
  readonly admin_api: number;
}

/** A gateway that is away is asked again by itself. */
const AGAIN_MS = 3_000;

/** What is known of the session. */
export type SessionState =
  | { readonly is: "unknown" }
  | { readonly is: "away"; readonly failure: ApiError }
  | { readonly is: "out"; readonly notice?: string }
  /** `isOver`: the gateway refused the last request; what was typed is still there. */
  | { readonly is: "in"; readonly session: Session; readonly isOver: boolean };

/** The state of the session. */
export const sessionCell = createCell<SessionState>({ is: "unknown" });

whenSignedOut(() => {
  const state = sessionCell.value;
  if (state.is === "in" && !state.isOver) sessionCell.set({ ...state, isOver: true });
});

/**
 * Finds the session of the page: by the code in the fragment, or by the cookie. `ready`: a page
 * with a session is shown when it resolves.
 */
export async function findSession(ready?: Promise<unknown>): Promise<void> {
  const [, code] = /^#in=([\w-]{1,200})$/.exec(location.hash) ?? [];
  if (code !== undefined) {
    go("#/", "replace");
    await signIn({ code }).catch((error: unknown) =>
      sessionCell.set({ is: "out", notice: asApiError(error).message }),
    );
    return;
  }
  try {
    const session = await get<Session>("/ui/session");
    await ready;
    enter(session);
  } catch (error) {
    const failure = asApiError(error);
    if (failure.kind === "signed-out") return sessionCell.set({ is: "out" });
    sessionCell.set({ is: "away", failure });
    setTimeout(() => {
      if (sessionCell.value.is === "away") void findSession();
    }, AGAIN_MS);
  }
}

/** Opens a session. Throws an `ApiError`. */
export async function signIn(
  by: { readonly key: string } | { readonly code: string },
): Promise<void> {
  enter(await post<Session>("/ui/session", by));
}

/** Enters the key of the session again, for changes that need it. Throws an `ApiError`. */
export async function enterKeyAgain(key: string): Promise<void> {
  const answer = await post<AdminAnswer<"POST /ui/key">>("/ui/key", { key });
  setConfirmation(answer.confirmation);
}

/** Ends the session, here and in the gateway. */
export async function signOut(): Promise<void> {
  await change("DELETE", "/ui/session").catch((error: unknown) => {
    if (asApiError(error).kind !== "signed-out") throw error;
  });
  forgetAnswers();
  setCsrf("");
  setConfirmation("");
  sessionCell.set({ is: "out" });
}

function enter(session: Session): void {
  setCsrf(session.csrf);
  forgetAnswers();
  sessionCell.set({ is: "in", session: withGrants(session), isOver: false });
}

/** The master key has no roles: it is the administrator of the whole. */
function withGrants(session: Session): Session {
  if (session.role !== "admin" || session.roles.length > 0) return session;
  return { ...session, roles: [{ role: "admin", at: "whole" }] };
}
