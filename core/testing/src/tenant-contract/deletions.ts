/** Deletions: what goes along, what prevents one, and what reports still know. */

import type { KeysOfDeleted } from "@sluice/contract";
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
import type { Suite } from "./under-test.ts";

/** The tests. */
export function deletionTests(suite: Suite): void {
  teamTests(suite);
  userTests(suite);
  organizationTests(suite);
  nameTests(suite);
}

function teamTests({ it, expect, store, fresh }: Suite): void {
  it("deletes, blocks or moves the keys of a team with the team, and no others", async () => {
    const { tenants, teams, keys } = await store();
    const p = fresh();
    await tenants.user.insert(userOf(`${p}u`));
    await teams.insert(teamOf(`${p}target`));
    for (const id of ["gone", "kept", "moved"]) {
      await teams.insert(teamOf(p + id));
      await tenants.membership.insert(memberOf(`${p}u`, p + id));
      await keys.insert(keyOf(`${p}${id}-key`, { teamId: p + id }));
    }
    const remove = (id: string, how: KeysOfDeleted) => teams.delete(p + id, how);
    const done = (id: string) => ({ outcome: "deleted", keys: [`${p}${id}-key`] });
    expect(await remove("gone", "delete")).toEqual(done("gone"));
    expect(await keys.find(`${p}gone-key`)).toBeUndefined();
    expect(await remove("kept", "block")).toEqual(done("kept"));
    expect(await keys.find(`${p}kept-key`)).toMatchObject({ blocked: true, teamId: `${p}kept` });
    expect(await remove("moved", { moveToTeam: `${p}none` })).toMatchObject({ outcome: "missing" });
    expect(await remove("moved", { moveToTeam: `${p}moved` })).toMatchObject({ outcome: "border" });
    expect(await keys.find(`${p}moved-key`)).toMatchObject({ teamId: `${p}moved` });
    expect(await remove("moved", { moveToTeam: `${p}target` })).toEqual(done("moved"));
    expect(await keys.find(`${p}moved-key`)).toMatchObject({
      blocked: false,
      teamId: `${p}target`,
    });
    for (const how of ["delete", "block", { moveToTeam: `${p}target` }] as const)
      expect(await remove("kept", how)).toEqual({ outcome: "absent", keys: [] });
    expect(await keys.find(`${p}kept-key`)).toMatchObject({ blocked: true, teamId: `${p}kept` });
    expect((await tenants.membership.list({ userId: `${p}u`, limit: 9 })).records).toEqual([]);
  });

  it("moves keys within their organization alone", async () => {
    const { tenants, teams, keys } = await store();
    const p = fresh();
    await tenants.organization.insert(organizationOf(`${p}a`));
    await teams.insert(teamOf(`${p}1`, { organizationId: `${p}a` }));
    await teams.insert(teamOf(`${p}2`, { organizationId: `${p}a` }));
    await teams.insert(teamOf(`${p}3`));
    await keys.insert(keyOf(`${p}k`, { teamId: `${p}1` }));
    expect(await teams.delete(`${p}1`, { moveToTeam: `${p}3` })).toEqual({
      outcome: "border",
      keys: [],
    });
    expect(await teams.find(`${p}1`)).toMatchObject({ id: `${p}1` });
    expect(await teams.delete(`${p}1`, { moveToTeam: `${p}2` })).toMatchObject({
      outcome: "deleted",
      keys: [`${p}k`],
    });
  });
}

function userTests({ it, expect, store, fresh }: Suite): void {
  it("deletes a user with the memberships, and does with the keys what is asked", async () => {
    const { tenants, teams, keys } = await store();
    const p = fresh();
    await teams.insert(teamOf(`${p}1`));
    await teams.insert(teamOf(`${p}2`));
    for (const id of ["a", "b", "c"]) {
      await tenants.user.insert(userOf(p + id));
      for (const team of ["1", "2"]) {
        await tenants.membership.insert(memberOf(p + id, p + team));
        await keys.insert(keyOf(`${p}${id}${team}`, { userId: p + id, teamId: p + team }));
      }
    }
    const member = (id: string) => ({ userId: p + id, teamId: `${p}1` });
    expect(await tenants.membership.delete(member("a"), "block")).toEqual({
      outcome: "deleted",
      keys: [`${p}a1`],
    });
    expect(await keys.find(`${p}a1`)).toMatchObject({ blocked: true });
    expect(await keys.find(`${p}a2`)).toMatchObject({ blocked: false });
    expect(await tenants.membership.delete(member("a"), "delete")).toEqual({
      outcome: "absent",
      keys: [],
    });
    expect(await keys.find(`${p}a1`)).toMatchObject({ id: `${p}a1` });
    // A user may return.
    expect(await tenants.membership.insert(memberOf(`${p}a`, `${p}1`))).toBe("added");
    const { keys: removed } = await tenants.user.delete({ id: `${p}b` }, "delete");
    expect(removed.toSorted()).toEqual([`${p}b1`, `${p}b2`]);
    expect(await keys.find(`${p}b1`)).toBeUndefined();
    expect(await tenants.membership.find(member("b"))).toBeUndefined();
    expect(await tenants.user.delete({ id: `${p}c` })).toEqual({ outcome: "deleted", keys: [] });
    expect(await keys.find(`${p}c1`)).toMatchObject({ blocked: false });
  });
}

function organizationTests({ it, expect, store, fresh }: Suite): void {
  it("refuses to delete what others refer to", async () => {
    const { tenants, teams, keys } = await store();
    const p = fresh();
    const id = `${p}o`;
    const organizationId = id;
    await tenants.organization.insert(organizationOf(id));
    await tenants.user.insert(userOf(`${p}u`, { organizations: [id] }));
    await tenants.customer.insert(customerOf("c", id));
    const referenced = { outcome: "referenced", keys: [] };
    await teams.insert(teamOf(`${p}t`, { organizationId }));
    expect(await tenants.organization.delete({ id })).toEqual(referenced);
    await teams.delete(`${p}t`, "delete");
    await keys.insert(keyOf(`${p}k`, { organizationId }));
    expect(await tenants.organization.delete({ id })).toEqual(referenced);
    await keys.delete(`${p}k`);
    await tenants.access_group.insert(groupOf(`${p}g`, { organizationId }));
    expect(await tenants.organization.delete({ id })).toEqual(referenced);
    await tenants.access_group.delete({ id: `${p}g` });
    const budgetId = `${p}b`;
    await tenants.budget.insert(budgetOf(budgetId, { organizationId }));
    expect(await tenants.organization.delete({ id })).toEqual(referenced);
    await tenants.user.update({ id: `${p}u` }, { budgetId });
    expect(await tenants.budget.delete({ id: budgetId })).toEqual(referenced);
    await tenants.user.update({ id: `${p}u` }, { budgetId: null });
    await tenants.customer.update({ id: "c", organizationId }, { budgetId });
    expect(await tenants.budget.delete({ id: budgetId })).toEqual(referenced);
    await tenants.customer.update({ id: "c", organizationId }, { budgetId: null });
    expect(await tenants.budget.delete({ id: budgetId })).toMatchObject({ outcome: "deleted" });
    expect(await tenants.organization.delete({ id })).toMatchObject({ outcome: "deleted" });
    expect(await tenants.organization.delete({ id })).toMatchObject({ outcome: "absent" });
    expect(await tenants.customer.find({ id: "c", organizationId })).toBeUndefined();
    expect(await tenants.user.find({ id: `${p}u` })).toMatchObject({ organizations: [] });
  });
}

function nameTests({ it, expect, store, fresh }: Suite): void {
  it("knows the names and places of what was deleted, as they were last", async () => {
    const { tenants, teams, keys } = await store();
    const p = fresh();
    const [o, t, u, k] = [`${p}o`, `${p}t`, `${p}u`, `${p}k`];
    await tenants.organization.insert(organizationOf(o, { alias: `${p}first` }));
    await tenants.organization.update({ id: o }, { alias: `${p}second` });
    await teams.insert(teamOf(t, { organizationId: o, alias: "team" }));
    await tenants.user.insert(userOf(u, { alias: "Ann" }));
    await keys.insert(keyOf(k, { teamId: t, alias: `${p}key` }));
    const named = async () =>
      Promise.all([
        tenants.names("organization", [o, `${p}none`]),
        tenants.names("team", [t]),
        tenants.names("user", [u]),
        tenants.names("key", [k]),
      ]);
    const expected = (isDeleted: boolean) => [
      [{ id: o, alias: `${p}second`, organizationId: o, teamId: null, isDeleted }],
      [{ id: t, alias: "team", organizationId: o, teamId: t, isDeleted }],
      [{ id: u, alias: "Ann", organizationId: null, teamId: null, isDeleted }],
      [{ id: k, alias: `${p}key`, organizationId: o, teamId: t, isDeleted }],
    ];
    expect(await named()).toEqual(expected(false));
    await teams.delete(t, "delete");
    await tenants.user.delete({ id: u });
    await tenants.organization.delete({ id: o });
    expect(await named()).toEqual(expected(true));
    expect(await tenants.names("team", [])).toEqual([]);
  });
}
