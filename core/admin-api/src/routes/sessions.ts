/** Routes of the sessions of browsers. Those under `/ui/` read the cookie themselves. */

import { COUNT, FLAG, list, object, TEXT, TEXT_OR_NULL, TEXTS, TIME, words } from "../schema.ts";

const SESSION = object({
  session: TEXT,
  role: { type: ["string", "null"], enum: ["viewer", "keys", "operator", "admin", null] },
  name: TEXT,
  roles: list(object({ role: words("viewer", "keys", "operator", "admin"), at: TEXT })),
  may: { ...TEXTS, description: "Actions of docs/roles.md that are allowed somewhere." },
  csrf: { ...TEXT, description: "What a change sends in x-sluice-csrf." },
  expires_at: TIME,
  admin_api: COUNT,
});

/** Signing in and out. */
export const SIGN_IN_ROUTES = {
  "POST /ui/session": {
    about: "Open a session",
    body: object({}, { key: TEXT, code: TEXT }),
    answer: SESSION,
  },
  "GET /ui/session": { about: "Read the session of the cookie", answer: SESSION },
  "DELETE /ui/session": {
    about: "End the session of the cookie",
    answer: object({ signed_out: FLAG }),
  },
  "POST /ui/code": {
    about: "Make a code that opens one session",
    body: object({}),
    answer: object({ code: TEXT, expires_in_s: COUNT }),
  },
  "POST /ui/key": {
    about: "Enter the key of the session again, for dangerous changes",
    body: object({ key: TEXT }),
    answer: object({
      confirmation: { ...TEXT, description: "What these changes send in x-sluice-confirmation." },
      expires_at: TIME,
    }),
  },
} as const;

/** Who is signed in. */
export const SESSION_ROUTES = {
  "GET /sessions": {
    about: "List the sessions of browsers",
    answer: object({
      sessions: list(
        object({
          session: TEXT,
          actor: { ...TEXT, description: "master, or the id of a key." },
          address: TEXT_OR_NULL,
          created_at: TIME,
          seen_at: TIME,
          expires_at: TIME,
          is_own: FLAG,
        }),
      ),
    }),
  },
  "POST /sessions/end": {
    about: "End one session, or all but the caller's own",
    body: object({}, { session: TEXT, all: { ...FLAG, "x-words": "true or false" } }),
    answer: object({ ended: TEXTS }),
  },
} as const;
