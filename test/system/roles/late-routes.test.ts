/**
 * Routes of the gateway as a whole, asked by callers of an organization in every spelling of their
 * paths; and objects that a body or a path names in another form than their ids have.
 */

import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Caller,
  grant,
  organization,
  startTenants,
  team,
  type Tenants,
  WHOLE,
} from "./tenants.ts";

let tenants: Tenants;
let callers: readonly Caller[];
let orgAdmin: Caller;
let ofOther: string;

beforeAll(async () => {
  tenants = await startTenants(undefined, {
    plugins: ["@sluice/compat-litellm"],
    sections: ["extensions:\n  litellm: { administration: public }"],
  });
  for (const id of ["acme", "other"]) await tenants.organization(id);
  await tenants.team("a1", "acme");
  await tenants.team("b1", "other");
  const acme = { organizations: ["acme"] };
  orgAdmin = await tenants.caller("org", [grant("admin", organization("acme"))], acme);
  callers = [
    orgAdmin,
    await tenants.caller("operator", [grant("operator", organization("acme"))], acme),
    await tenants.caller("keys", [grant("keys", team("a1"))], acme),
    await tenants.caller("viewer", [grant("viewer", team("a1"))], acme),
  ];
  ofOther = await tenants.key({ teamId: "b1", alias: "Of-Other" });
}, 60_000);
afterAll(() => tenants?.close());

/** Sends a path as it is: `fetch` would write it anew. */
function raw(call: string, key: string, headers: object = {}, body = "{}") {
  const [method = "", path = ""] = call.split(" ");
  const hasBody = method === "POST";
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const url = new URL(tenants.gateway.adminUrl);
    const sent = request(
      {
        host: url.hostname,
        port: url.port,
        method,
        path,
        headers: {
          authorization: `Bearer ${key}`,
          ...(hasBody && { "content-type": "application/json" }),
          ...headers,
        },
      },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (part: string) => (text += part));
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
      },
    );
    sent.on("error", reject).end(hasBody ? body : undefined);
  });
}

/** Routes of the whole gateway. */
const WHOLE_ROUTES = [
  "GET /sessions",
  "POST /sessions/end",
  "GET /fleet",
  "GET /fleet/history",
  "GET /fleet/files",
  "POST /fleet/reload",
  "POST /fleet/push",
  "POST /fleet/forget",
  "GET /deployments",
  "GET /deployments/echo%2Fecho",
  "POST /deployments/echo%2Fecho/hold",
  "POST /deployments/echo%2Fecho/release",
  "POST /deployments/echo%2Fecho/reset",
  "GET /overview",
  "GET /config/files",
  "POST /config/reload",
  "POST /config/rollback",
  "POST /restart",
];

/** Other spellings of a path. */
const SPELLINGS: Readonly<Record<string, (path: string) => string>> = {
  "as it is": (path) => path,
  "with a slash": (path) => `${path}/`,
  "with two slashes": (path) => `/${path}`,
  "in capitals": (path) => path.toUpperCase(),
  "percent-encoded": (path) =>
    path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  "through the dashboard": (path) => `/ui/..${path}`,
  "through the dashboard, encoded": (path) => `/ui/%2e%2e${path}`,
  "with a dot": (path) => `/.${path}`,
  "with a parameter": (path) => `${path};a=b`,
  "with a query": (path) => `${path}?team_id=a1&organization_id=acme`,
  "with an extension": (path) => `${path}.json`,
};

describe("routes of the whole gateway", () => {
  it.each(Object.entries(SPELLINGS))("are closed %s", async (_name, spelled) => {
    const opened: string[] = [];
    for (const route of WHOLE_ROUTES) {
      const [method = "", path = ""] = route.split(" ");
      for (const { name, key } of callers) {
        const { status, text } = await raw(`${method} ${spelled(path)}`, key);
        // A page of the dashboard has no data, and is there without a key.
        const isPage = status === 200 && text.startsWith("<!doctype html>");
        if (status < 400 && !isPage) opened.push(`${name} ${method} ${spelled(path)}: ${status}`);
      }
    }
    expect(opened).toEqual([]);
  });

  it.each(["x-http-method-override", "x-method-override", "x-original-url", "x-rewrite-url"])(
    "are closed with the header %s",
    async (header) => {
      const before = await tenants.state();
      const value = header.includes("method") ? "POST" : "/sessions";
      for (const { key } of callers) {
        const { status } = await raw("GET /key/list", key, { [header]: value });
        const { text } = await raw("GET /key/list", key, { [header]: value });
        expect(status).toBe(200);
        expect(text).not.toContain('"sessions"');
      }
      expect(await tenants.state()).toBe(before);
    },
  );

  it("are closed to HEAD and OPTIONS as to GET", async () => {
    for (const { key } of callers)
      for (const path of ["/sessions", "/fleet/files", "/config/files", "/overview"]) {
        expect((await raw(`HEAD ${path}`, key)).status).toBe(403);
        expect((await raw(`OPTIONS ${path}`, key)).status).toBeGreaterThanOrEqual(400);
      }
  });
});

describe("an object of another organization", () => {
  const forms = (id: string): readonly string[] => [
    id.toUpperCase(),
    id.toLowerCase(),
    ` ${id}`,
    `${id} `,
    `${id}\u200B`,
    `${id}\u0000`,
    [...id].map((letter) => String.fromCodePoint(letter.codePointAt(0)! + 0xfee0)).join(""),
    encodeURIComponent(id),
    `${id}/`,
    `acme/../${id}`,
  ];

  it("is not found by a key's id or alias in another form", async () => {
    const before = await tenants.state();
    const found: string[] = [];
    for (const key of [ofOther, "Of-Other"].flatMap((id) => [id, ...forms(id)]))
      for (const [call, body] of [
        ["POST /key/block", { key }],
        ["POST /key/regenerate", { key }],
        ["POST /key/bulk", { keys: [key], action: "delete" }],
        ["POST /key/delete", { keys: [key], key_aliases: [key] }],
      ] as const) {
        const { status, text } = await tenants.ask(call, body, orgAdmin.key);
        const isMissing = status === 200 && text.includes('"outcome":"missing"');
        if (status < 400 && !isMissing) found.push(`${call} ${JSON.stringify(key)}: ${status}`);
      }
    expect(found).toEqual([]);
    expect(await tenants.state()).toBe(before);
  });

  it("is not found by a second member of the same name, nor by a prototype", async () => {
    const before = await tenants.state();
    const bodies = [
      '{"team_id":"a1","team_id":"b1","rpm":5}',
      '{"__proto__":{"team_id":"b1"},"rpm":5}',
      '{"constructor":{"prototype":{"team_id":"b1"}},"team_id":"b1"}',
      '{"team_id":["b1"],"rpm":5}',
      '{"team_id":{"toString":"b1"},"rpm":5}',
    ];
    for (const body of bodies)
      for (const route of ["/team/update", "/team/block", "/key/generate", "/team/member_add"]) {
        const { status } = await raw(`POST ${route}`, orgAdmin.key, {}, body);
        expect([route, body, status >= 400]).toEqual([route, body, true]);
      }
    const widened = await raw(
      "POST /key/generate",
      orgAdmin.key,
      {},
      '{"team_id":"a1","__proto__":{"admin":true,"team_id":"b1"}}',
    );
    expect(widened.status).toBe(400);
    expect(await tenants.state()).toBe(before);
  });

  it("is not read by a query with two values", async () => {
    for (const path of [
      "/team/info?team_id=a1&team_id=b1",
      "/team/member_info?team_id=a1&team_id=b1&user_id=user-org",
      "/organization/info?organization_id=acme&organization_id=other",
      "/key/list?team_id=a1&team_id=b1",
      "/spend/report?team_id=a1&team_id=b1",
      "/requests?key=none&key=Of-Other",
    ]) {
      const { text } = await raw(`GET ${path}`, orgAdmin.key);
      expect([path, text]).toEqual([path, expect.not.stringMatching(/"b1"|"other"|Of-Other/)]);
    }
  });
});

describe("a caller of the whole without the role", () => {
  it("reads and changes no session, holds nothing, pushes nothing", async () => {
    const viewer = await tenants.caller("whole-viewer", [grant("viewer", WHOLE)]);
    const operator = await tenants.caller("whole-operator", [grant("operator", WHOLE)]);
    for (const [caller, routes] of [
      [viewer, ["GET /sessions", "POST /sessions/end", "POST /fleet/push", "POST /fleet/reload"]],
      [viewer, ["POST /deployments/echo%2Fecho/hold", "POST /fleet/forget"]],
      [operator, ["GET /sessions", "POST /sessions/end", "POST /fleet/push", "GET /audit"]],
    ] as const)
      for (const route of routes)
        expect([caller.name, route, (await raw(route, caller.key)).status]).toEqual([
          caller.name,
          route,
          403,
        ]);
  });
});
