/**
 * Every role at every place × every route of the admin listener × an object of its own, of a
 * sibling and of a stranger: what the table of the policy says is what the listener does.
 */

import { POLICY, type PolicyRule, ROLES, type RoleGrant } from "@sluice/contract";
import { adminRoutes } from "../../../core/engine/src/create-apps.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Answer,
  type Caller,
  grant,
  organization,
  startTenants,
  team,
  type Tenants,
  WHOLE,
} from "./tenants.ts";

/** The place of an object: its team and its organization. */
interface At {
  readonly organizationId: string | null;
  readonly teamId: string | null;
}

/** Objects, seen from a role at the team t1, at the organization o1 or at the whole. */
const PLACES = {
  own: { organizationId: "o1", teamId: "t1" },
  sibling: { organizationId: "o1", teamId: "t2" },
  stranger: { organizationId: "o2", teamId: "t3" },
  none: { organizationId: null, teamId: null },
} as const satisfies Readonly<Record<string, At>>;
type Relation = keyof typeof PLACES;
const RELATIONS = Object.keys(PLACES) as readonly Relation[];

let tenants: Tenants;
const callers: Caller[] = [];

beforeAll(async () => {
  tenants = await startTenants();
  for (const id of ["o1", "o2"]) await tenants.organization(id);
  for (const { organizationId, teamId } of Object.values(PLACES))
    if (teamId !== null) await tenants.team(teamId, organizationId);
  for (const role of ROLES)
    for (const [name, place] of [
      ["whole", WHOLE],
      ["organization", organization("o1")],
      ["team", team("t1")],
    ] as const)
      callers.push(await tenants.caller(`${role}-${name}`, [grant(role, place)]));
  const admin = await tenants.caller("member-admin", []);
  await tenants.member(admin.userId, "t1", "admin");
  callers.push({ ...admin, roles: [grant("keys", team("t1"))] });
}, 120_000);

afterAll(() => tenants?.close());

/** How a route is asked about an object of a place. */
interface Recipe {
  /** Makes the object. Returns the body, or what is appended to the path. */
  readonly make: (at: At) => Promise<object | string>;
  /** The object is a team: a role at the team is one at the object itself. */
  readonly isTeam?: true;
  /** Whether the answer for an invisible object may be an empty list of what was done. */
  readonly isBulk?: true;
}

const keyIn = (at: At): Promise<string> =>
  tenants.key(at.teamId === null ? { organizationId: at.organizationId } : { teamId: at.teamId });

let made = 0;

/** A team of the place, which may be changed and deleted. */
async function teamIn({ organizationId, teamId }: At, isFresh: boolean): Promise<string> {
  if (!isFresh && teamId !== null) return teamId;
  return tenants.team(`fresh-${++made}`, organizationId);
}

/** Routes about one object or several. All others list, or are about the gateway itself. */
const RECIPES: Readonly<Record<string, Recipe>> = {
  "GET /key/info": { make: async (at) => `?key=${await keyIn(at)}` },
  "POST /key/generate": { make: async (at) => (at.teamId === null ? {} : { team_id: at.teamId }) },
  "POST /key/update": { make: async (at) => ({ key: await keyIn(at), metadata: { a: 1 } }) },
  "POST /key/regenerate": { make: async (at) => ({ key: await keyIn(at) }) },
  "POST /key/block": { make: async (at) => ({ key: await keyIn(at) }) },
  "POST /key/unblock": { make: async (at) => ({ key: await keyIn(at) }) },
  "POST /key/delete": { make: async (at) => ({ keys: [await keyIn(at)] }), isBulk: true },
  "GET /team/info": { make: async (at) => `?team_id=${await teamIn(at, false)}`, isTeam: true },
  "POST /team/new": {
    make: async ({ organizationId }) => ({
      team_id: `new-${++made}`,
      ...(organizationId !== null && { organization_id: organizationId }),
    }),
  },
  "POST /team/update": {
    make: async (at) => ({ team_id: await teamIn(at, false), metadata: { a: 1 } }),
    isTeam: true,
  },
  "POST /team/block": { make: async (at) => ({ team_id: await teamIn(at, true) }) },
  "POST /team/unblock": {
    make: async (at) => ({ team_id: await teamIn(at, false) }),
    isTeam: true,
  },
  "POST /team/delete": {
    make: async (at) => ({ team_ids: [await teamIn(at, true)] }),
    isBulk: true,
  },
};

/** Bodies of routes about the gateway itself. */
const BODIES: Readonly<Record<string, object>> = {
  "POST /key/import": { keys: [] },
  "POST /team/import": { teams: [] },
  "POST /config/rollback": { generation: 900_000 },
};

/** What answers to every name and every call: no route is called while the table of them is made. */
const ANYTHING: unknown = new Proxy(() => undefined, {
  get: (_target, name) => (typeof name === "symbol" ? undefined : ANYTHING),
  apply: () => ANYTHING,
  construct: () => ANYTHING as object,
});

const ROUTES = Object.entries(adminRoutes(ANYTHING as Parameters<typeof adminRoutes>[0]));

/** Whether a role counts, by the words of docs/roles.md alone. */
function isAllowed(
  roles: readonly RoleGrant[],
  rule: PolicyRule,
  at: At,
  isTeam: boolean,
): boolean {
  return roles.some(({ role, place }) => {
    if (ROLES.indexOf(role) < ROLES.indexOf(rule.role)) return false;
    if (place.kind === "whole") return true;
    if (rule.reach === "whole") return false;
    if (place.kind === "organization") return place.id === at.organizationId;
    return place.id === at.teamId && !(rule.reach === "above" && isTeam);
  });
}

const isRefused = ({ status }: Answer): boolean => status === 401 || status === 403;

describe("every role × every route × whose object", () => {
  it("each route is about the gateway, lists, or has a recipe here", () => {
    const about = ROUTES.filter(([, { object }]) => object === "named" || object === "several");
    expect(about.map(([name]) => name).toSorted()).toEqual(Object.keys(RECIPES).toSorted());
    expect(ROUTES.length).toBeGreaterThan(25);
  });

  it("routes about the gateway itself open to roles at the whole alone", async () => {
    const wrong: string[] = [];
    let count = 0;
    for (const [name, { action, object }] of ROUTES) {
      if (object !== "whole") continue;
      const call = name.replace("*id", "echo%2Fecho").replace(":id", "none");
      for (const { name: who, roles, key } of callers) {
        const body = name.startsWith("POST") ? (BODIES[name] ?? {}) : undefined;
        const answer = await tenants.ask(call, body, key);
        const isOpen = isAllowed(roles, POLICY[action], PLACES.none, false);
        if (isRefused(answer) === isOpen) wrong.push(`${who} ${name}: ${answer.status}`);
        count++;
      }
    }
    console.log(`matrix: ${count} requests about the gateway itself`);
    expect(wrong).toEqual([]);
  });

  it("objects are changed, refused with 403 where they may be seen, and else do not exist", async () => {
    const wrong: string[] = [];
    let count = 0;
    for (const [name, { action }] of ROUTES) {
      const recipe = RECIPES[name];
      if (recipe === undefined) continue;
      const rule = POLICY[action];
      const read = POLICY[`${action.split(".")[0]}.read` as typeof action];
      for (const relation of RELATIONS) {
        const at = PLACES[relation];
        for (const { name: who, roles, key } of callers) {
          const answer = await askAbout(name, await recipe.make(at), key);
          count++;
          const isTeam = recipe.isTeam === true;
          const isOpen = isAllowed(roles, rule, placeOf(recipe, name, at), isTeam);
          const isSeen = isAllowed(roles, read, placeOf(recipe, name, at), isTeam);
          const mayAnywhere = roles.some(
            ({ role, place }) =>
              rule.owners.includes("user") ||
              (ROLES.indexOf(role) >= ROLES.indexOf(rule.role) &&
                (rule.reach !== "whole" || place.kind === "whole")),
          );
          const expected = isOpen ? "open" : isSeen || !mayAnywhere ? "403" : "missing";
          const found = outcomeOf(answer);
          if (found !== expected)
            wrong.push(`${who} ${name} ${relation}: ${found}, not ${expected} (${answer.text})`);
        }
      }
    }
    console.log(`matrix: ${count} requests about objects`);
    expect(wrong).toEqual([]);
  }, 240_000);

  it("lists show what a role may see, and count nothing else", async () => {
    for (const at of Object.values(PLACES)) await keyIn(at);
    for (const { name: who, roles, key, userId } of callers) {
      const { body } = await tenants.ask("GET /key/list?size=100", undefined, key);
      const keys = body["keys"] as readonly Record<string, unknown>[];
      const all = (await tenants.store.keys.list({ offset: 0, limit: 100_000 })).keys;
      const visible = all.filter(({ userId: owner, teamId, organizationId }) => {
        const place = Object.values(PLACES).find((one) => one.teamId === teamId && teamId !== null);
        const at = place ?? { organizationId, teamId: null };
        return owner === userId || isAllowed(roles, POLICY["key.read"], at, false);
      });
      expect([who, body["total_count"]]).toEqual([who, visible.length]);
      const ids = new Set(visible.map(({ id }) => id));
      expect([who, keys.filter(({ token_id: id }) => !ids.has(String(id)))]).toEqual([who, []]);
      const teams = await tenants.ask("GET /team/list", undefined, key);
      const seen = (teams.body as unknown as readonly Record<string, unknown>[]).map(
        ({ team_id: id }) => id,
      );
      const isAt = (id: string, at: At): boolean =>
        seen.includes(id) === isAllowed(roles, POLICY["team.read"], at, true);
      expect([
        who,
        isAt("t1", PLACES.own),
        isAt("t2", PLACES.sibling),
        isAt("t3", PLACES.stranger),
      ]).toEqual([who, true, true, true]);
    }
  });
});

/** Where the policy sees an object: a fresh team is none of the places' teams. */
function placeOf(recipe: Recipe, name: string, at: At): At {
  const isFresh = recipe.isTeam !== true && name.startsWith("POST /team/");
  return isFresh ? { organizationId: at.organizationId, teamId: null } : at;
}

function askAbout(name: string, what: object | string, key: string): Promise<Answer> {
  return typeof what === "string"
    ? tenants.ask(`${name}${what}`, undefined, key)
    : tenants.ask(name, what, key);
}

/** A creation in an invisible place is answered as one in a place that does not exist: 400. */
function outcomeOf({ status, text }: Answer): string {
  if (status === 200) return "open";
  if (status === 404 || (status === 400 && text.includes("does not exist"))) return "missing";
  return String(status);
}
