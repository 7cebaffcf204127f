/** Sessions of browsers on the admin listener, the same for one process and for several workers. */

import { request } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  type GatewayProcess,
  MASTER_KEY,
  startGateway,
  startOwnProcess,
} from "../gateway-process.ts";
import { sendRaw } from "../raw-client.ts";

/** Where a request goes, and the address that it comes from. */
interface Way {
  readonly url?: string;
  readonly localAddress?: string;
}

/** Another address of this machine. */
const OTHER_ADDRESS: Way = { localAddress: "127.0.0.2" };

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The tests with a number of workers. Call it in a `describe`. */
export function sessionTests(workers: 1 | 2): void {
  const start = workers === 1 ? startGateway : startOwnProcess;
  let gateway: GatewayProcess;
  beforeAll(async () => {
    gateway = await start({ server: `workers: ${workers}, admin: { hosts: [sluice.internal] }` });
  }, 120_000);
  afterAll(() => gateway?.dispose());

  /** As a browser or a program sends it: `fetch` would set headers of its own. */
  const send = (
    call: string,
    headers: object = {},
    body?: object,
    { url = gateway.adminUrl, ...from }: Way = {},
  ) =>
    new Promise<Reply>((resolve, reject) => {
      const [method = "", path = ""] = call.split(" ");
      const sent = request(
        `${url}${path}`,
        { method, headers: { ...headers }, ...from },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
          response.on("end", () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>),
            }),
          );
        },
      );
      sent.on("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  const page = () => ({
    origin: new URL(gateway.adminUrl).origin,
    "sec-fetch-site": "same-origin",
    "content-type": "application/json",
  });
  const bearer = (key: string) => ({
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
  });
  const signIn = async (given: object = { key: MASTER_KEY }, way: Way = {}) => {
    const reply = await send("POST /ui/session", page(), given, way);
    const [cookie = ""] = String(reply.headers["set-cookie"]).split(";");
    return { reply, cookie, csrf: String(reply.body["csrf"]) };
  };
  /** Changes the file of the store beside the gateway, as time would. */
  const database = (change: (file: DatabaseSync) => void): void => {
    const file = new DatabaseSync(join(gateway.workspace.dataDirectory, "sluice.db"));
    file.exec("pragma busy_timeout = 20000");
    change(file);
    file.close();
  };
  const port = () => new URL(gateway.adminUrl).port;

  it("check 4: the cookie is no script's, and the public listener ignores it", async () => {
    const { reply, cookie, csrf } = await signIn();
    expect([reply.status, reply.body["role"], reply.body["admin_api"]]).toEqual([200, "admin", 1]);
    expect(cookie).toMatch(new RegExp(`^sluice_${port()}=[\\w-]{43}$`));
    expect(String(reply.headers["set-cookie"])).toMatch(
      /; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    expect(cookie).not.toContain(csrf);
    const shown = await send("GET /ui/session", { cookie });
    expect([shown.status, shown.body["csrf"]]).toEqual([200, csrf]);
    expect((await send("GET /key/list", { cookie })).status).toBe(200);
    expect(
      (await send("GET /key/list", { cookie }, undefined, { url: gateway.publicUrl })).status,
    ).not.toBe(200);
  });

  it("check 3: changes need our origin, JSON and the csrf of the session; a key beside the cookie is 401", async () => {
    const { cookie, csrf } = await signIn();
    const whole = { ...page(), cookie, "x-sluice-csrf": csrf };
    const { origin: _, ...withoutOrigin } = whole;
    const other = await signIn();
    const cases: readonly (readonly [string, object, number])[] = [
      ["whole", whole, 200],
      ["no csrf", { ...page(), cookie }, 403],
      ["csrf of another session", { ...whole, "x-sluice-csrf": other.csrf }, 403],
      ["foreign origin", { ...whole, origin: "http://evil.test" }, 403],
      [
        "the same address by another scheme",
        { ...whole, origin: `https://127.0.0.1:${port()}` },
        403,
      ],
      ["no origin", withoutOrigin, 403],
      ["null origin", { ...whole, origin: "null" }, 403],
      ["same site, other port", { ...whole, "sec-fetch-site": "same-site" }, 403],
      ["a form's type", { ...whole, "content-type": "text/plain" }, 403],
      ["a key too", { ...whole, ...bearer(MASTER_KEY) }, 401],
      ["two cookies of the name", { ...whole, cookie: `${cookie}; ${cookie}` }, 401],
      ["a cookie of nothing", { ...whole, cookie: `sluice_${port()}=${"x".repeat(43)}` }, 401],
    ];
    const found: unknown[] = [];
    for (const [name, headers] of cases)
      found.push([name, (await send("POST /key/generate", headers, {})).status]);
    expect(found).toEqual(cases.map(([name, , status]) => [name, status]));
    const foreign = { cookie, "sec-fetch-site": "cross-site" };
    expect((await send("GET /key/list", foreign)).status).toBe(403);
  });

  it("ends with DELETE, and the audit has who did what in which session", async () => {
    const { reply, cookie, csrf } = await signIn();
    const headers = { ...page(), cookie, "x-sluice-csrf": csrf };
    const { token_id: id } = (await send("POST /key/generate", headers, {})).body;
    const ended = await send("DELETE /ui/session", headers);
    expect([ended.status, ended.headers["clear-site-data"]]).toEqual([200, '"cache", "storage"']);
    expect((await send("GET /ui/session", { cookie })).status).toBe(401);
    expect((await send("POST /key/generate", headers, {})).status).toBe(401);
    const { body } = await send("GET /audit?limit=20", bearer(MASTER_KEY));
    const lines = body["lines"] as readonly Readonly<Record<string, unknown>>[];
    const own = lines.filter(({ session }) => session === reply.body["session"]);
    expect(own.map(({ action, object }) => [action, object])).toEqual([
      ["session.end", null],
      ["key.create", `key:${String(id)}`],
      ["session.open", null],
    ]);
    expect(JSON.stringify(lines)).not.toContain(cookie.split("=")[1]);
  });

  it("an admin key opens one with its user's role, which ends when the key is blocked or rotated", async () => {
    await send("POST /user/new", bearer(MASTER_KEY), {
      user_id: "vera",
      roles: [{ role: "viewer", at: "whole" }],
    });
    for (const change of ["block", "regenerate", "delete"]) {
      const made = await send("POST /key/generate", bearer(MASTER_KEY), {
        user_id: "vera",
        admin: true,
      });
      const { key, token_id: id } = made.body;
      const { reply, cookie, csrf } = await signIn({ key });
      expect([reply.body["role"], reply.body["name"]]).toEqual(["viewer", "vera"]);
      expect(reply.body["may"]).not.toContain("key.create");
      const headers = { ...page(), cookie, "x-sluice-csrf": csrf };
      expect((await send("POST /key/generate", headers, {})).status).toBe(403);
      expect((await send("GET /key/list", { cookie })).status).toBe(200);
      const field = change === "delete" ? { keys: [id] } : { key: id };
      expect((await send(`POST /key/${change}`, bearer(MASTER_KEY), field)).status).toBe(200);
      expect([change, (await send("GET /key/list", { cookie })).status]).toEqual([change, 401]);
    }
  });

  it("check 2: a code opens one session, once", async () => {
    const made = await send("POST /ui/code", bearer(MASTER_KEY), {});
    expect(made.body["code"]).toMatch(/^[\w-]{22}$/);
    const { reply, cookie } = await signIn({ code: made.body["code"] });
    expect(reply.status).toBe(200);
    expect((await send("GET /key/list", { cookie })).status).toBe(200);
    expect((await signIn({ code: made.body["code"] })).reply.status).toBe(401);
    // The secret of a session is no code.
    expect((await signIn({ code: cookie.split("=")[1] })).reply.status).toBe(401);
    expect((await send("POST /ui/code", {}, {})).status).toBe(401);
  });

  it("check 2: a code that is late, or comes from another address, opens nothing", async () => {
    const away = await send("POST /ui/code", bearer(MASTER_KEY), {});
    const foreign = await signIn({ code: away.body["code"] }, OTHER_ADDRESS);
    expect(foreign.reply.status).toBe(401);
    // It was used up by the try.
    expect((await signIn({ code: away.body["code"] }, OTHER_ADDRESS)).reply.status).toBe(401);
    const late = await send("POST /ui/code", { ...bearer(MASTER_KEY) }, {}, OTHER_ADDRESS);
    expect(late.status).toBe(200);
    database((file) =>
      file.exec("update admin_session set expires_at_ms = created_at_ms where kind = 'code'"),
    );
    expect((await signIn({ code: late.body["code"] }, OTHER_ADDRESS)).reply.status).toBe(401);
  });

  it("check 25: a session that was idle for half an hour, or is twelve hours old, has ended", async () => {
    for (const change of ["seen_at_ms = seen_at_ms - 1800000", "expires_at_ms = created_at_ms"]) {
      const { cookie, reply } = await signIn();
      expect((await send("GET /ui/session", { cookie })).status).toBe(200);
      const own = String(reply.body["session"]);
      database((file) => file.prepare(`update admin_session set ${change} where id = ?`).run(own));
      expect([change, (await send("GET /ui/session", { cookie })).status]).toEqual([change, 401]);
    }
  });

  it("check 4: answers only to its own names, before it looks at a key", async () => {
    const status = async (host: string, headers: object = bearer(MASTER_KEY)) =>
      (await send("GET /key/list", { ...headers, host })).status;
    const own = [`localhost:${port()}`, "127.0.0.1", "[::1]:80", "SLUICE.internal:9", "localhost"];
    const foreign = [
      "evil.test",
      "127.0.0.1.evil.test",
      "localhost.evil.test",
      "10.0.0.1",
      "a@localhost",
      "[::1",
      "localhost:99999",
    ];
    expect(await Promise.all(own.map((host) => status(host)))).toEqual(own.map(() => 200));
    expect(await Promise.all(foreign.map((host) => status(host)))).toEqual(foreign.map(() => 421));
    expect(await status("evil.test", {})).toBe(421);
    // Headers of the supervisor that a client invents are no place of a browser.
    const { cookie } = await signIn();
    const forged = { cookie, "x-sluice-supervisor-origin": "http://evil.test", host: "evil.test" };
    expect(await status("evil.test", forged)).toBe(421);
    // Two names, in either order, and another name in the request line.
    const ask = async (target: string, hosts: readonly string[]) => {
      const lines = hosts.map((host) => `host: ${host}`);
      const key = `authorization: Bearer ${MASTER_KEY}`;
      const head = [`GET ${target} HTTP/1.1`, ...lines, key, "connection: close"];
      return (await sendRaw(gateway.adminUrl, head)).status;
    };
    expect(await ask("/key/list", ["localhost"])).toBe(200);
    expect(await ask("/key/list", ["localhost", "evil.test"])).toBe(421);
    expect(await ask("/key/list", ["evil.test", "localhost"])).toBe(421);
    expect(await ask("http://evil.test/key/list", ["localhost"])).toBe(421);
  });

  it("are listed, and ended one by one or all but the own one", async () => {
    const [own, first, second] = [await signIn(), await signIn(), await signIn()];
    const headers = { ...page(), cookie: own.cookie, "x-sluice-csrf": own.csrf };
    const listed = async () =>
      (await send("GET /sessions", { cookie: own.cookie })).body["sessions"] as readonly {
        readonly session: string;
        readonly is_own: boolean;
        readonly actor: string;
      }[];
    const all = await listed();
    expect(all.filter(({ is_own: isOwn }) => isOwn).map(({ session }) => session)).toEqual([
      own.reply.body["session"],
    ]);
    expect(all.filter(({ actor }) => actor === "master").length).toBeGreaterThanOrEqual(3);
    expect(JSON.stringify(all)).not.toContain(own.cookie.split("=")[1]);
    const one = await send("POST /sessions/end", headers, { session: first.reply.body["session"] });
    expect(one.body["ended"]).toEqual([first.reply.body["session"]]);
    expect((await send("GET /ui/session", { cookie: first.cookie })).status).toBe(401);
    expect((await send("GET /ui/session", { cookie: second.cookie })).status).toBe(200);
    expect((await send("POST /sessions/end", headers, {})).status).toBe(400);
    await send("POST /sessions/end", headers, { all: true });
    expect((await send("GET /ui/session", { cookie: second.cookie })).status).toBe(401);
    expect((await listed()).map(({ is_own: isOwn }) => isOwn)).toEqual([true]);
  });

  it("take the key again, and no other one", async () => {
    const { cookie, csrf } = await signIn();
    const headers = { ...page(), cookie, "x-sluice-csrf": csrf };
    const again = await send("POST /ui/key", headers, { key: MASTER_KEY });
    expect([again.status, String(again.body["confirmation"])]).toEqual([
      200,
      expect.stringMatching(/^\d+\.[\da-f]{64}$/),
    ]);
    expect(Date.parse(String(again.body["expires_at"])) - Date.now()).toBeLessThanOrEqual(300_000);
    expect((await send("POST /ui/key", headers, { key: "sk-another" })).status).toBe(403);
    expect((await send("POST /ui/key", { ...page(), cookie }, { key: MASTER_KEY })).status).toBe(
      403,
    );
    expect((await send("POST /ui/key", bearer(MASTER_KEY), { key: MASTER_KEY })).status).toBe(401);
  });

  // The last: the address is refused afterwards.
  it("check 2: every wrong key has one answer, and the sixth try waits", async () => {
    const { key: plain } = (await send("POST /key/generate", bearer(MASTER_KEY), {})).body;
    // A code and a session's secret failed twice before.
    const wrong = [{ key: "sk-wrong" }, {}, { key: plain }, { key: 1 }, { key: "" }];
    const replies: Reply[] = [];
    for (const given of [...wrong, ...wrong]) replies.push((await signIn(given)).reply);
    const refused = replies.filter(({ status }) => status === 401);
    expect(new Set(refused.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(refused.length).toBeLessThanOrEqual(5);
    expect(replies.slice(5).map(({ status }) => status)).toEqual([429, 429, 429, 429, 429]);
    const { reply } = await signIn();
    expect([reply.status, Number(reply.headers["retry-after"]) > 0]).toEqual([429, true]);
    expect((await send("GET /key/list", bearer(MASTER_KEY))).status).toBe(200);
  });
}
