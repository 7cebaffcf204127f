/** Admin routes of the sessions of browsers: who is signed in, and the end of a session. */

import { type AdminRoutes, atWhole } from "../access/route.ts";
import type { Sessions } from "../ui/sessions.ts";
import { invalid } from "./fields.ts";

/** The routes. */
export function sessionRoutes(sessions: Sessions): AdminRoutes {
  return {
    "GET /sessions": atWhole("session.read", async ({ principal }) => ({
      sessions: (await sessions.list()).map((one) => ({
        session: one.id,
        actor: one.actor,
        address: one.address,
        created_at: new Date(one.createdAtMs).toISOString(),
        seen_at: new Date(one.seenAtMs).toISOString(),
        expires_at: new Date(one.expiresAtMs).toISOString(),
        is_own: one.id === principal.session,
      })),
    })),
    "POST /sessions/end": atWhole("session.end", async (request) => {
      const { session = null, all = false } = request.body;
      if ((session === null) !== (all === true))
        throw invalid("session", "Send session, the id of one, or all: true for all but your own.");
      const change = { kind: "session", ...(typeof session === "string" && { id: session }) };
      return request.audit.attempt(request, change, async () => ({
        ended: await sessions.endThose(({ id }) =>
          session === null ? id !== request.principal.session : id === session,
        ),
      }));
    }),
  };
}
