/**
 * Every route of the admin listener × every form of a credential × every role, the same for one
 * process and for several workers. The table of expected statuses is made from the definitions of
 * the routes and from the table of the policy.
 */

import { Agent, request } from "node:http";
import { ADMIN_ROUTES } from "@sluice/admin-api";
import { POLICY, type PolicyAction, type Role, ROLES } from "@sluice/contract";
import { afterAll, beforeAll, expect, it } from "vitest";
import { adminRoutes } from "../../../../core/engine/src/create-apps.ts";
import { admin } from "../client.ts";
import {
  type GatewayProcess,
  MASTER_KEY,
  startGateway,
  startOwnProcess,
} from "../gateway-process.ts";

/** What answers to every name and every call: no route is called while the table of them is made. */
const ANYTHING: unknown = new Proxy(() => undefined, {
  get: (_target, name) => (typeof name === "symbol" ? undefined : ANYTHING),
  apply: () => ANYTHING,
  construct: () => ANYTHING as object,
});

const ROUTES = Object.entries(
  adminRoutes(...([ANYTHING, ANYTHING, ANYTHING] as Parameters<typeof adminRoutes>)),
).map(([name, { action }]) => ({ name, action }));

/** Routes beside the policy: they read the cookie themselves. */
const SIGN_IN = Object.keys(ADMIN_ROUTES).filter((name) => name.includes(" /ui/"));

/** A session and the key that opened it. */
interface Caller {
  readonly role: Role;
  readonly key: string;
  readonly cookie: string;
  readonly csrf: string;
}

type Headers = Readonly<Record<string, string>>;
/** `open`: whatever the role allows. */
type Expected = "open" | 401 | 403;

/** A way to present a credential, and what a read and a change get for it. */
interface Form {
  readonly name: string;
  readonly headers: (caller: Caller, origin: string) => Headers;
  readonly read: Expected;
  readonly change: Expected;
}

const JSON_TYPE = { "content-type": "application/json" };
const OWN_PAGE = { "sec-fetch-site": "same-origin" };
const page = ({ cookie, csrf }: Caller, origin: string): Headers => ({
  ...JSON_TYPE,
  ...OWN_PAGE,
  origin,
  cookie,
  "x-sluice-csrf": csrf,
});

const FORMS: readonly Form[] = [
  { name: "no credential", headers: () => JSON_TYPE, read: 401, change: 401 },
  {
    name: "a key",
    headers: ({ key }) => ({ ...JSON_TYPE, authorization: `Bearer ${key}` }),
    read: "open",
    change: "open",
  },
  { name: "a cookie", headers: page, read: "open", change: "open" },
  {
    name: "a cookie without csrf",
    headers: ({ cookie }, origin) => ({ ...JSON_TYPE, ...OWN_PAGE, origin, cookie }),
    read: "open",
    change: 403,
  },
  {
    name: "a cookie of a foreign page",
    headers: (caller, origin) => ({
      ...page(caller, origin),
      origin: "http://evil.test",
      "sec-fetch-site": "cross-site",
    }),
    read: 403,
    change: 403,
  },
  {
    name: "a cookie with a foreign origin alone",
    headers: (caller, origin) => ({ ...page(caller, origin), origin: "http://evil.test" }),
    // No answer has CORS headers: the page that asks cannot read it.
    read: "open",
    change: 403,
  },
  {
    name: "a cookie without origin",
    headers: ({ cookie, csrf }) => ({ ...JSON_TYPE, cookie, "x-sluice-csrf": csrf }),
    read: "open",
    change: 403,
  },
  {
    name: "a cookie and text/plain",
    headers: (caller, origin) => ({ ...page(caller, origin), "content-type": "text/plain" }),
    read: "open",
    change: 403,
  },
  {
    name: "a cookie and a key",
    headers: (caller, origin) => ({
      ...page(caller, origin),
      authorization: `Bearer ${caller.key}`,
    }),
    read: 401,
    change: 401,
  },
];

/** Bodies that change nothing: what an empty body would apply. */
const BODIES: Readonly<Record<string, object>> = {
  "POST /key/generate": { unknown_field: true },
  "POST /config/rollback": { generation: 900_000 },
};

/** The tests with a number of workers. Call it in a `describe`. */
export function routeCredentialTests(workers: 1 | 2): void {
  const start = workers === 1 ? startGateway : startOwnProcess;
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const callers: Caller[] = [];
  let gateway: GatewayProcess;

  beforeAll(async () => {
    gateway = await start({ server: `workers: ${workers}` });
    for (const role of ROLES) callers.push(await callerOf(role));
  }, 120_000);
  afterAll(async () => {
    agent.destroy();
    await gateway?.dispose();
  });

  /** As a browser or a program sends it: `fetch` would set headers of its own. */
  const send = (call: string, headers: Headers, body?: object) =>
    new Promise<{ status: number; headers: Readonly<Record<string, unknown>>; text: string }>(
      (resolve, reject) => {
        const [method = "", path = ""] = call.split(" ");
        const url = `${gateway.adminUrl}${path}`;
        const sent = request(url, { method, headers, agent, timeout: 20_000 }, (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
          response.on("end", () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
          );
        });
        sent.on("timeout", () => sent.destroy(new Error(`${call} has no answer in 20 s.`)));
        sent.on("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
      },
    );
  const origin = () => new URL(gateway.adminUrl).origin;

  async function signIn(key: string): Promise<Pick<Caller, "cookie" | "csrf">> {
    const headers = { ...JSON_TYPE, ...OWN_PAGE, origin: origin() };
    const { headers: answered, text } = await send("POST /ui/session", headers, { key });
    const [cookie = ""] = String(answered["set-cookie"]).split(";");
    return { cookie, csrf: (JSON.parse(text) as { readonly csrf: string }).csrf };
  }

  async function callerOf(role: Role): Promise<Caller> {
    const roles = [{ role, at: "whole" }];
    await admin(gateway, "/user/new", { user_id: role, roles });
    const made = await admin(gateway, "/key/generate", { user_id: role, admin: true });
    const { key } = (await made.json()) as { readonly key: string };
    return { role, key, ...(await signIn(key)) };
  }

  it("check 3: every admin route takes each form of a credential as its definition says", async () => {
    const surprises: string[] = [];
    let count = 0;
    for (const { name, action } of ROUTES) {
      const isRead = name.startsWith("GET ");
      const call = name.replace(/\*\w+/, "openai%2Fnone").replaceAll(/:\w+/g, "none");
      const body = isRead ? undefined : (BODIES[name] ?? {});
      for (const caller of callers) {
        for (const form of FORMS) {
          const { status } = await send(call, form.headers(caller, origin()), body);
          const expected = isRead ? form.read : form.change;
          const wanted = expected === "open" && !mayAtAll(caller.role, action) ? 403 : expected;
          if (!isAs(wanted, status))
            surprises.push(`${name}, ${caller.role}, ${form.name}: ${status}, not ${wanted}`);
          count += 1;
        }
      }
    }
    expect(count).toBe(ROUTES.length * ROLES.length * FORMS.length);
    expect(ROUTES.length).toBeGreaterThan(70);
    expect(surprises).toEqual([]);
    for (const { role, cookie } of callers)
      expect([role, (await send("GET /ui/session", { cookie })).status]).toEqual([role, 200]);
  }, 300_000);

  it("check 3: the routes of sessions take a page of their own, or the master key", async () => {
    const surprises: string[] = [];
    expect(SIGN_IN.toSorted()).toEqual(Object.keys(SESSION_STATUSES).toSorted());
    for (const [name, statuses] of Object.entries(SESSION_STATUSES)) {
      for (const form of FORMS) {
        const own = await signIn(MASTER_KEY);
        const caller: Caller = { role: "admin", key: MASTER_KEY, ...own };
        const body = name === "POST /ui/code" ? {} : { key: MASTER_KEY };
        const headers = form.headers(caller, origin());
        const { status } = await send(name, headers, name.startsWith("POST ") ? body : undefined);
        const wanted = statuses[form.name];
        if (status !== wanted) surprises.push(`${name}, ${form.name}: ${status}, not ${wanted}`);
      }
    }
    expect(surprises).toEqual([]);
  });
}

/** Statuses of the routes under `/ui/`, in the order of `FORMS`. */
const SESSION_STATUSES: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  // It needs no session, and every page of another origin is refused.
  "POST /ui/session": inOrder(403, 403, 200, 200, 403, 403, 403, 403, 200),
  "GET /ui/session": inOrder(401, 401, 200, 200, 403, 200, 200, 200, 401),
  "DELETE /ui/session": inOrder(401, 401, 200, 403, 403, 403, 403, 403, 401),
  // It takes the master key alone, and reads no cookie.
  "POST /ui/code": inOrder(401, 200, 401, 401, 401, 401, 401, 401, 200),
  "POST /ui/key": inOrder(401, 401, 200, 403, 403, 403, 403, 403, 401),
};

function inOrder(...statuses: readonly number[]): Readonly<Record<string, number>> {
  return Object.fromEntries(FORMS.map(({ name }, index) => [name, statuses[index] ?? 0]));
}

/** Whether a user with a role at the whole may do it to some object, by docs/roles.md. */
function mayAtAll(role: Role, action: PolicyAction): boolean {
  const rule = POLICY[action];
  return ROLES.indexOf(role) >= ROLES.indexOf(rule.role) || rule.owners.includes("user");
}

function isAs(wanted: Expected, status: number): boolean {
  if (wanted !== "open") return status === wanted;
  return status !== 401 && status !== 403 && status < 500;
}
