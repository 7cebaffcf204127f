/** Pages of keys: every order, search, status and scope, compared with a list in memory. */

import type { KeyPageQuery, KeyRecord, TenantScope } from "@sluice/contract";
import { keyOf, organizationOf, teamOf } from "./records.ts";
import type { StoreUnderTest, Suite } from "./under-test.ts";

const NOW_MS = 1_800_000_000_000;
/** Texts whose order by bytes, and whose beginnings, a database may get wrong. */
const ALIASES = ["a", "a%", "a_b", "B", "ab", "ä", "\u{1f600}", "\uff5e", null, null] as const;
const ENDS = [null, NOW_MS - 1, NOW_MS, NOW_MS + 1, NOW_MS + 2] as const;
const KEYS = 60;

/** The tests. */
export function keyPageTests({ it, expect, store, fresh }: Suite): void {
  it("pages keys in every order, with every filter, each once and none left out", async () => {
    const made = await store();
    const p = fresh();
    const all = await keysIn(made, p);
    const ofTest = { organizationId: `${p}o` };
    const base: Omit<KeyPageQuery, "limit"> = { nowMs: NOW_MS, ...ofTest };
    const questions: readonly Omit<KeyPageQuery, "limit">[] = [
      ...(["newest", "oldest", "alias", "expires"] as const).flatMap((order) => [
        { ...base, order },
        { ...base, order, teamId: `${p}t1` },
        { ...base, order, within: scope({ teams: [`${p}t1`, `${p}t2`], users: [`${p}u1`] }) },
        { ...base, order, within: scope({ users: manyUsers(p) }) },
      ]),
      ...(["active", "blocked", "expired"] as const).map((status) => ({ ...base, status })),
      ...["", "a", "a%", "a_", "ä", "\u{1f600}", "u", "k1", "nothing"].flatMap((end) => [
        { ...base, search: `${p}${end}` },
        { ...base, search: `${p}${end}`, within: scope({ teams: [`${p}t1`] }) },
      ]),
      { ...base, within: scope({}) },
    ];
    for (const question of questions) {
      const expected = modelOf(all, question);
      const pages = await pagesOf(made, { ...question, limit: 7 });
      expect([question, pages.flat()]).toEqual([question, expected]);
      expect(pages.slice(0, -1).every((page) => page.length === 7)).toBe(true);
      const whole = await made.keys.page({ ...question, limit: KEYS });
      expect([whole.keys.length, whole.isMore]).toEqual([expected.length, false]);
    }
  });

  it("goes on behind a key that was deleted, and refuses cursors of other lists", async () => {
    const made = await store();
    const p = fresh();
    const all = await keysIn(made, p);
    const query = { nowMs: NOW_MS, organizationId: `${p}o`, order: "alias", limit: 5 } as const;
    const expected = modelOf(all, query);
    const first = await made.keys.page(query);
    const { cursor = "", key } = first.keys.at(-1) ?? {};
    await made.keys.delete(key?.id ?? "");
    const rest = await made.keys.page({ ...query, limit: KEYS, after: cursor });
    expect(rest.keys.map((one) => one.key.id)).toEqual(expected.slice(5));
    const codeOf = async (after: string): Promise<unknown> =>
      made.keys.page({ ...query, order: "newest", after }).catch(({ code }) => code as unknown);
    expect([await codeOf(cursor), await codeOf("nonsense")]).toEqual([
      "invalid_field",
      "invalid_field",
    ]);
  });
}

function scope(places: Partial<TenantScope>): TenantScope {
  return { organizations: [], teams: [], users: [], ...places };
}

/** More places than a store walks one by one. */
function manyUsers(p: string): readonly string[] {
  return [`${p}u0`, `${p}u2`, ...Array.from({ length: 40 }, (_, index) => `${p}other${index}`)];
}

async function keysIn({ tenants, teams, keys }: StoreUnderTest, p: string) {
  await tenants.organization.insert(organizationOf(`${p}o`));
  for (const name of ["t0", "t1", "t2"])
    await teams.insert(teamOf(`${p}${name}`, { organizationId: `${p}o` }));
  const all: KeyRecord[] = [];
  for (let index = 0; index < KEYS; index++) {
    const alias = ALIASES[index % ALIASES.length] ?? null;
    const key = keyOf(`${p}k${index}`, {
      alias: alias === null ? null : `${p}${alias}${index % 3 === 0 ? "" : index}${index}`,
      teamId: index % 4 === 3 ? null : `${p}t${index % 4}`,
      organizationId: `${p}o`,
      userId: index % 5 === 4 ? null : `${p}u${index % 5}`,
      blocked: index % 7 === 0,
      expiresAtMs: ENDS[index % ENDS.length] ?? null,
      // Several keys of one millisecond.
      createdAtMs: 1_700_000_000_000 + (index % 11),
    });
    await keys.insert(key);
    all.push(key);
  }
  return all;
}

async function pagesOf({ keys }: StoreUnderTest, query: KeyPageQuery): Promise<string[][]> {
  const pages: string[][] = [];
  let after: string | undefined;
  for (;;) {
    const page = await keys.page({ ...query, ...(after !== undefined && { after }) });
    pages.push(page.keys.map(({ key }) => key.id));
    after = page.keys.at(-1)?.cursor;
    if (!page.isMore || after === undefined) return pages;
  }
}

/** The ids that a question must give, in their order. */
function modelOf(all: readonly KeyRecord[], question: Omit<KeyPageQuery, "limit">): string[] {
  const { teamId, within, status, search = "", order = "newest" } = question;
  const wanted = all.filter(
    (key) =>
      (teamId === undefined || key.teamId === teamId) &&
      (status === undefined || statusOf(key) === status) &&
      (within === undefined ||
        within.teams.includes(key.teamId ?? "") ||
        within.users.includes(key.userId ?? "")),
  );
  if (search !== "") {
    const matches = (key: KeyRecord) => [key.alias, key.id, key.userId];
    const walks = [0, 1, 2].map((walk) =>
      wanted
        .filter((key) => matches(key).findIndex((text) => text?.startsWith(search)) === walk)
        .sort((a, b) => byBytes(matches(a)[walk], matches(b)[walk]) || byBytes(a.id, b.id)),
    );
    return walks.flat().map(({ id }) => id);
  }
  const value = (key: KeyRecord): string | number | null =>
    order === "alias" ? key.alias : order === "expires" ? key.expiresAtMs : key.createdAtMs;
  const sorted = wanted.toSorted((a, b) => {
    const [first, second] = [value(a), value(b)];
    const nulls = Number(first === null) - Number(second === null);
    const values = typeof first === "number" ? first - Number(second) : byBytes(first, second);
    return nulls || values || byBytes(a.id, b.id);
  });
  return (order === "newest" ? sorted.toReversed() : sorted).map(({ id }) => id);
}

function statusOf({ blocked, expiresAtMs }: KeyRecord): string {
  if (blocked) return "blocked";
  return expiresAtMs !== null && expiresAtMs <= NOW_MS ? "expired" : "active";
}

function byBytes(a: unknown, b: unknown): number {
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}
