/** What records refer to exists, and belongs to their organization or to the whole. */

import type { StoreUnderTest, Suite } from "./under-test.ts";
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

/** The tests. */
export function referenceTests(suite: Suite): void {
  missingTests(suite);
  borderTests(suite);
}

/**
 * Two organizations, `a` and `b`, each with a team, a user and a budget; and a budget of the whole.
 */
async function twoOrganizations({ tenants, teams }: StoreUnderTest, p: string): Promise<void> {
  await tenants.budget.insert(budgetOf(`${p}whole`));
  for (const side of ["a", "b"]) {
    const organizationId = `${p}${side}`;
    await tenants.organization.insert(organizationOf(organizationId));
    await tenants.budget.insert(budgetOf(`${p}${side}-budget`, { organizationId }));
    await teams.insert(teamOf(`${p}${side}-team`, { organizationId }));
    await tenants.user.insert(userOf(`${p}${side}-user`, { organizations: [organizationId] }));
  }
}

function missingTests({ it, expect, store, fresh }: Suite): void {
  it("refuses references to what does not exist", async () => {
    const { tenants, teams, keys } = await store();
    const p = fresh();
    const none = `${p}none`;
    const place = { kind: "team", id: none } as const;
    const writes = [
      teams.insert(teamOf(`${p}t`, { organizationId: none })),
      teams.insert(teamOf(`${p}t`, { budgetId: none })),
      tenants.organization.insert(organizationOf(`${p}o`, { budgetId: none })),
      tenants.user.insert(userOf(`${p}u`, { organizations: [none] })),
      tenants.user.insert(userOf(`${p}u`, { budgetId: none })),
      tenants.user.insert(userOf(`${p}u`, { roles: [{ role: "keys", place }] })),
      tenants.user.insert(
        userOf(`${p}u`, { roles: [{ role: "keys", place: { kind: "organization", id: none } }] }),
      ),
      tenants.customer.insert(customerOf(`${p}c`, none)),
      tenants.customer.insert(customerOf(`${p}c`, "", { budgetId: none })),
      tenants.budget.insert(budgetOf(`${p}b`, { organizationId: none })),
      tenants.access_group.insert(groupOf(`${p}g`, { organizationId: none })),
      keys.insert(keyOf(`${p}k`, { organizationId: none })),
      keys.insert(keyOf(`${p}k`, { budgetId: none })),
    ];
    for (const write of writes) expect(await write).toBe("missing");
    expect(await keys.insert(keyOf(`${p}k`, { teamId: none }))).toBe("no-team");
    expect(await teams.insert(teamOf(`${p}t`))).toBe("added");
    expect(await tenants.user.insert(userOf(`${p}u`))).toBe("added");
    expect(await tenants.membership.insert(memberOf(`${p}u`, none))).toBe("missing");
    expect(await tenants.membership.insert(memberOf(none, `${p}t`))).toBe("missing");
    expect(await tenants.membership.insert(memberOf(`${p}u`, `${p}t`))).toBe("added");
    expect(await tenants.membership.insert(memberOf(`${p}u`, `${p}t`))).toBe("taken");
    const member = { userId: `${p}u`, teamId: `${p}t` };
    expect(await tenants.membership.update(member, { budgetId: none })).toBe("missing");
    expect(await teams.update(`${p}t`, { organizationId: none, rpm: 1 })).toBe("missing");
    expect(await teams.find(`${p}t`)).toMatchObject({ rpm: null });
    expect(await tenants.user.update({ id: `${p}u` }, { organizations: [none] })).toBe("missing");
  });
}

function borderTests({ it, expect, store, fresh }: Suite): void {
  it("lets nothing refer to a budget of another organization", async () => {
    const made = await store();
    const { tenants, teams, keys } = made;
    const p = fresh();
    await twoOrganizations(made, p);
    const [ofA, ofB] = [{ budgetId: `${p}a-budget` }, { budgetId: `${p}b-budget` }];
    await tenants.membership.insert(memberOf(`${p}a-user`, `${p}a-team`));
    await tenants.customer.insert(customerOf("c", `${p}a`));
    await keys.insert(keyOf(`${p}k`, { teamId: `${p}a-team` }));
    await keys.insert(keyOf(`${p}own`, { organizationId: `${p}a` }));
    await keys.insert(keyOf(`${p}free`));
    const member = { userId: `${p}a-user`, teamId: `${p}a-team` };
    const change = (changes: { readonly budgetId: string }) => [
      tenants.organization.update({ id: `${p}a` }, changes),
      teams.update(`${p}a-team`, changes),
      tenants.user.update({ id: `${p}a-user` }, changes),
      tenants.membership.update(member, changes),
      tenants.customer.update({ id: "c", organizationId: `${p}a` }, changes),
      keys.update(`${p}k`, changes),
      keys.update(`${p}own`, changes),
    ];
    for (const changed of change(ofB)) expect(await changed).toBe("border");
    for (const changed of change(ofA)) expect(await changed).toMatchObject(ofA);
    for (const changed of change({ budgetId: `${p}whole` }))
      expect(await changed).toMatchObject({ budgetId: `${p}whole` });
    expect(await keys.update(`${p}free`, ofA)).toBe("border");
    expect(await teams.insert(teamOf(`${p}t`, { ...ofA, organizationId: `${p}b` }))).toBe("border");
    // Nor by a move after it.
    await tenants.user.update({ id: `${p}a-user` }, ofA);
    expect(await tenants.user.update({ id: `${p}a-user` }, { organizations: [`${p}b`] })).toBe(
      "border",
    );
    await keys.update(`${p}k`, ofA);
    expect(await keys.update(`${p}k`, { teamId: `${p}b-team` })).toBe("border");
    expect(await keys.update(`${p}k`, { teamId: null })).toBe("border");
    expect(await teams.update(`${p}a-team`, { organizationId: `${p}b` })).toBe("border");
    await keys.update(`${p}k`, { budgetId: null });
    await tenants.membership.update(member, ofA);
    expect(await teams.update(`${p}a-team`, { organizationId: null })).toBe("border");
    await tenants.membership.update(member, { budgetId: null });
    expect(await teams.update(`${p}a-team`, { organizationId: `${p}b` })).toMatchObject({
      organizationId: `${p}b`,
    });
  });

  it("gives a key the organization of its team, and its aliases a place there", async () => {
    const made = await store();
    const { keys, teams } = made;
    const p = fresh();
    await twoOrganizations(made, p);
    const [a, b] = [{ teamId: `${p}a-team` }, { teamId: `${p}b-team` }];
    const alias = `${p}alias`;
    expect(await keys.insert(keyOf(`${p}1`, { ...a, organizationId: `${p}b` }))).toBe("border");
    expect(await keys.insert(keyOf(`${p}1`, { ...a, organizationId: `${p}a`, alias }))).toBe(
      "added",
    );
    expect(await keys.insert(keyOf(`${p}2`, { ...b, alias }))).toBe("added");
    expect(await keys.insert(keyOf(`${p}3`, { alias }))).toBe("added");
    expect(await keys.insert(keyOf(`${p}4`, { organizationId: `${p}b`, alias }))).toBe("taken");
    expect(await keys.update(`${p}3`, b)).toBe("taken");
    const ofOrganization = async (organizationId: string) =>
      (await keys.list({ organizationId, offset: 0, limit: 9 })).keys.map(({ id }) => id);
    expect(await ofOrganization(`${p}a`)).toEqual([`${p}1`]);
    expect(await ofOrganization(`${p}b`)).toEqual([`${p}2`]);
    // The first key says itself which organization it belongs to.
    expect(await teams.update(`${p}a-team`, { organizationId: `${p}b` })).toBe("border");
    expect(await keys.update(`${p}1`, { organizationId: null, alias: null })).toMatchObject({
      organizationId: null,
    });
    expect(await teams.update(`${p}a-team`, { organizationId: `${p}b` })).toMatchObject({});
    expect(await ofOrganization(`${p}b`)).toEqual([`${p}1`, `${p}2`]);
    expect(await keys.update(`${p}2`, { teamId: null })).toBe("taken");
    await keys.update(`${p}3`, { alias: null });
    expect(await keys.update(`${p}2`, { teamId: null })).toMatchObject({ teamId: null });
    expect(await ofOrganization(`${p}b`)).toEqual([`${p}1`]);
  });
}
