/** Lists: pages in the order of ids, filters, searches, and what a reader may see. */

import type { TenantPage, TenantQuery } from "@sluice/contract";
import {
  budgetOf,
  customerOf,
  groupOf,
  keyOf,
  memberOf,
  organizationOf,
  teamOf,
  userOf,
} from "./records.ts";
import type { StoreUnderTest, Suite } from "./under-test.ts";

/** The tests. */
export function listTests(suite: Suite): void {
  pageTests(suite);
  filterTests(suite);
}

/** All pages of a list, by the ids of their records. */
async function pagesOf<Record extends { readonly id: string }>(
  list: (query: TenantQuery) => Promise<TenantPage<Record>>,
  query: TenantQuery,
): Promise<string[][]> {
  const pages: string[][] = [];
  let after: string | undefined;
  do {
    const { records, next } = await list({ ...query, ...(after !== undefined && { after }) });
    pages.push(records.map(({ id }) => id));
    after = next;
  } while (after !== undefined);
  return pages;
}

function pageTests({ it, expect, store, fresh }: Suite): void {
  it("lists in the order of ids, page by page, without a change in between being lost", async () => {
    const { tenants } = await store();
    const p = fresh();
    const ids = ["B", "a", "c", "z", "ä", "\u{1f600}"].map((id) => p + id);
    for (const id of ids.toReversed()) await tenants.budget.insert(budgetOf(`${id}1`));
    const list = (query: TenantQuery) => tenants.budget.list(query);
    const all = ids.map((id) => `${id}1`);
    expect(await pagesOf(list, { search: p, limit: 9 })).toEqual([all]);
    expect(await pagesOf(list, { search: p, limit: 6 })).toEqual([all]);
    expect(await pagesOf(list, { search: p, limit: 4 })).toEqual([all.slice(0, 4), all.slice(4)]);
    const first = await list({ search: p, limit: 2 });
    await tenants.budget.delete({ id: `${ids[1]}1` });
    const rest = await list({ search: p, limit: 9, after: first.next ?? "" });
    expect(rest.records.map(({ id }) => id)).toEqual(all.slice(2));
    expect(await list({ search: p, limit: 9, after: "nonsense" }).catch(({ code }) => code)).toBe(
      "invalid_field",
    );
  });

  it("searches for beginnings of ids and aliases as they are written", async () => {
    const { tenants, teams } = await store();
    const p = fresh();
    await teams.insert(teamOf(`${p}1`, { alias: `${p}50%_off` }));
    await teams.insert(teamOf(`${p}2`, { alias: `${p}50 per cent` }));
    await teams.insert(teamOf(`${p}3_x`, { alias: "d'or" + p }));
    await teams.insert(teamOf(`${p}3yx`));
    await teams.insert(teamOf(`${p}\ud7ff`));
    const found = async (search: string) =>
      (await teams.list({ search, limit: 9 })).records.map(({ id }) => id.slice(p.length));
    expect(await found(p)).toEqual(["1", "2", "3_x", "3yx", "\ud7ff"]);
    expect(await found(`${p}50`)).toEqual(["1", "2"]);
    expect(await found(`${p}50%`)).toEqual(["1"]);
    expect(await found(`${p}3_`)).toEqual(["3_x"]);
    expect(await found(`d'or${p}`)).toEqual(["3_x"]);
    expect(await found(`${p}\ud7ff`)).toEqual(["\ud7ff"]);
    expect(await found(`${p}3Y`)).toEqual([]);
    expect(await found("%")).toEqual([]);
    const {
      tenants: { customer },
    } = { tenants };
    await customer.insert(customerOf(`${p}%`, "", { alias: `${p}alias` }));
    await customer.insert(customerOf(`${p}x`, ""));
    const customers = async (search: string) =>
      (await customer.list({ search, limit: 9 })).records.map(({ id }) => id.slice(p.length));
    expect(await customers(p)).toEqual(["%", "x"]);
    expect(await customers(`${p}%`)).toEqual(["%"]);
    expect(await customers(`${p}alias`)).toEqual([]);
  });
}

/** Two organizations, each with two teams; `both` is a member of one team in each. */
async function organizations({ tenants, teams, keys }: StoreUnderTest, p: string): Promise<void> {
  for (const side of ["a", "b"]) {
    const organizationId = p + side;
    await tenants.organization.insert(organizationOf(organizationId));
    await tenants.budget.insert(budgetOf(`${organizationId}b`, { organizationId }));
    await tenants.access_group.insert(groupOf(`${organizationId}g`, { organizationId }));
    for (const id of ["1", "2"]) {
      const team = `${organizationId}${id}`;
      await teams.insert(teamOf(team, { organizationId }));
      await tenants.customer.insert(customerOf(id, organizationId));
      await keys.insert(keyOf(`${team}k`, { teamId: team, userId: `${p}both` }));
    }
    const named = userOf(`${organizationId}u`, { organizations: [organizationId] });
    await tenants.user.insert({ ...named, budgetId: `${organizationId}b` });
  }
  await tenants.user.insert(userOf(`${p}both`));
  for (const team of [`${p}a1`, `${p}b1`])
    await tenants.membership.insert(memberOf(`${p}both`, team));
}

function filterTests({ it, expect, store, fresh }: Suite): void {
  it("filters in the query", async () => {
    const made = await store();
    const p = fresh();
    await organizations(made, p);
    const { organization, user, membership, customer, budget, access_group } = made.tenants;
    const q = (query: Partial<TenantQuery>): TenantQuery => ({ limit: 99, ...query });
    const idsOf = ({ records }: TenantPage<{ readonly id: string }>) =>
      records.map(({ id }) => (id.startsWith(p) ? id.slice(p.length) : id));
    const ofA = { organizationId: `${p}a` };
    const ofBoth = { userId: `${p}both` };
    const ofTeam = { teamId: `${p}a1` };
    expect(idsOf(await made.teams.list(q(ofA)))).toEqual(["a1", "a2"]);
    expect(idsOf(await made.teams.list(q(ofBoth)))).toEqual(["a1", "b1"]);
    expect(idsOf(await made.teams.list(q({ ...ofBoth, ...ofA })))).toEqual(["a1"]);
    expect(idsOf(await organization.list(q(ofBoth)))).toEqual(["a", "b"]);
    expect(idsOf(await organization.list(q(ofTeam)))).toEqual(["a"]);
    expect(idsOf(await user.list(q(ofA)))).toEqual(["au", "both"]);
    expect(idsOf(await user.list(q(ofTeam)))).toEqual(["both"]);
    expect(idsOf(await user.list(q({ budgetId: `${p}ab` })))).toEqual(["au"]);
    expect(idsOf(await customer.list(q(ofA)))).toEqual(["1", "2"]);
    expect(idsOf(await customer.list(q(ofBoth)))).toEqual([]);
    expect(idsOf(await budget.list(q(ofA)))).toEqual(["ab"]);
    expect(idsOf(await access_group.list(q(ofA)))).toEqual(["ag"]);
    const members = async (query: Partial<TenantQuery>) =>
      (await membership.list(q(query))).records.map(({ teamId }) => teamId.slice(p.length));
    expect(await members(ofBoth)).toEqual(["a1", "b1"]);
    expect(await members(ofA)).toEqual(["a1"]);
    expect(await members({ ...ofTeam, ...ofBoth })).toEqual(["a1"]);
    expect(await members({ teamId: `${p}a2` })).toEqual([]);
  });

  it("shows a reader what belongs to its places, and no more", async () => {
    const made = await store();
    const p = fresh();
    await organizations(made, p);
    const { tenants, teams, keys } = made;
    const none = { organizations: [], teams: [], users: [] };
    const scopes = [
      none,
      { ...none, organizations: [`${p}a`] },
      { ...none, teams: [`${p}b1`] },
      { ...none, users: [`${p}both`] },
      { organizations: [`${p}a`], teams: [`${p}b2`], users: [] },
    ];
    const seen: string[][] = [];
    for (const within of scopes) {
      const query = { within, limit: 99 };
      const found: { readonly id: string }[] = [
        ...(await tenants.organization.list(query)).records,
        ...(await teams.list(query)).records,
        ...(await tenants.user.list(query)).records,
        ...(await tenants.budget.list(query)).records,
        ...(await tenants.access_group.list(query)).records,
        ...(await keys.list({ ...query, offset: 0 })).keys,
      ];
      const customers = (await tenants.customer.list(query)).records.length;
      const members = (await tenants.membership.list(query)).records.length;
      seen.push([...found.map(({ id }) => id.slice(p.length)), `${customers}+${members}`]);
    }
    expect(seen).toEqual([
      ["0+0"],
      ["a", "a1", "a2", "au", "both", "ab", "ag", "a1k", "a2k", "2+1"],
      ["b1", "both", "b1k", "0+1"],
      ["a1", "b1", "both", "a1k", "a2k", "b1k", "b2k", "0+2"],
      ["a", "a1", "a2", "b2", "au", "both", "ab", "ag", "a1k", "a2k", "b2k", "2+1"],
    ]);
  });
}
