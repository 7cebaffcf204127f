/** Ids: their form, and that none is used twice. */

import { budgetOf, customerOf, groupOf, organizationOf, teamOf, userOf } from "./records.ts";
import type { Suite } from "./under-test.ts";

/** The tests. */
export function idTests(suite: Suite): void {
  formTests(suite);
  aliasTests(suite);
}

function formTests({ it, expect, store, fresh }: Suite): void {
  it("refuses an id that differs from another one only by case, width or spaces", async () => {
    const { tenants, teams } = await store();
    const p = fresh();
    const kinds = [
      (id: string) => tenants.organization.insert(organizationOf(id)),
      (id: string) => tenants.user.insert(userOf(id)),
      (id: string) => tenants.budget.insert(budgetOf(id)),
      (id: string) => tenants.access_group.insert(groupOf(id)),
      (id: string) => teams.insert(teamOf(id)),
    ];
    for (const insert of kinds) {
      expect(await insert(`${p}Straße 1`)).toBe("added");
      const similar = [
        `${p}Straße 1`,
        `${p}straße 1`,
        `${p}STRASSE 1`,
        ` ${p}Straße 1\u3000`,
        `${p}Straße\u00a0１`,
        `${p}Stra\u200bße 1`,
        `${p}Stra\u00adße 1`,
      ];
      for (const id of similar) expect(await insert(id)).toBe("taken");
      expect(await insert(`${p}Straße 2`)).toBe("added");
    }
  });

  it("finds the user that an id means, deleted ones too", async () => {
    const { tenants } = await store();
    const id = `${fresh()}Ann`;
    expect(await tenants.similarUser(id)).toBeUndefined();
    await tenants.user.insert(userOf(id));
    for (const similar of [id, id.toLowerCase(), ` ${id}`])
      expect(await tenants.similarUser(similar)).toEqual({ id, isDeleted: false });
    await tenants.user.delete({ id });
    expect(await tenants.similarUser(id.toUpperCase())).toEqual({ id, isDeleted: true });
  });

  it("keeps ids in Unicode NFC, and compares them byte for byte", async () => {
    const { tenants } = await store();
    const p = fresh();
    expect(await tenants.user.insert(userOf(`${p}re\u0301ne\u0301`))).toBe("added");
    expect(await tenants.user.find({ id: `${p}r\u00e9n\u00e9` })).toMatchObject({
      id: `${p}r\u00e9n\u00e9`,
    });
    expect(await tenants.user.find({ id: `${p}re\u0301ne\u0301` })).toBeUndefined();
    expect(await tenants.user.find({ id: `${p}R\u00e9n\u00e9` })).toBeUndefined();
  });

  it("keeps ids of customers as they are, for each organization", async () => {
    const { tenants } = await store();
    const p = fresh();
    for (const id of [`${p}a`, `${p}b`]) await tenants.organization.insert(organizationOf(id));
    const ids = ["u1", "U1", " u1", "u1 ", "e\u0301", "\u00e9", "ｕ1", "%_"];
    for (const organizationId of ["", `${p}a`, `${p}b`])
      for (const id of ids)
        expect(await tenants.customer.insert(customerOf(`${p}${id}`, organizationId))).toBe(
          "added",
        );
    for (const id of ids) {
      const where = { id: `${p}${id}`, organizationId: `${p}a` };
      expect(await tenants.customer.find(where)).toMatchObject(where);
    }
    expect(await tenants.customer.insert(customerOf(`${p}u1`, `${p}a`))).toBe("taken");
  });

  it("never uses the id of a deleted record again, also in another form", async () => {
    const { tenants, teams } = await store();
    const p = fresh();
    const id = `${p}x`;
    await tenants.organization.insert(organizationOf(id));
    await tenants.user.insert(userOf(id));
    await tenants.budget.insert(budgetOf(id));
    await tenants.access_group.insert(groupOf(id));
    await teams.insert(teamOf(id));
    for (const kind of ["organization", "user", "budget", "access_group"] as const)
      expect(await tenants[kind].delete({ id })).toEqual({ outcome: "deleted", keys: [] });
    expect(await teams.delete(id, "delete")).toMatchObject({ outcome: "deleted" });
    for (const again of [id, id.toUpperCase()]) {
      expect(await tenants.organization.insert(organizationOf(again))).toBe("used");
      expect(await tenants.user.insert(userOf(again))).toBe("used");
      expect(await tenants.budget.insert(budgetOf(again))).toBe("used");
      expect(await tenants.access_group.insert(groupOf(again))).toBe("used");
      expect(await teams.insert(teamOf(again))).toBe("used");
    }
    // The files win: what they declare exists.
    expect(await tenants.user.declare(userOf(id, { managedBy: "file" }))).toBe("declared");
    expect(await tenants.user.insert(userOf(id.toUpperCase()))).toBe("taken");
    // A customer is whom the application says.
    await tenants.customer.insert(customerOf(id, ""));
    await tenants.customer.delete({ id, organizationId: "" });
    expect(await tenants.customer.insert(customerOf(id, ""))).toBe("added");
  });
}

function aliasTests({ it, expect, store, fresh }: Suite): void {
  it("keeps aliases of an organization apart, and lets users share one", async () => {
    const { tenants, teams } = await store();
    const p = fresh();
    const alias = `${p}alias`;
    for (const id of ["a", "b"]) await tenants.organization.insert(organizationOf(`${p}${id}`));
    const named = (id: string, organizationId: string | null) =>
      teams.insert(teamOf(`${p}${id}`, { alias, organizationId }));
    expect(await named("1", `${p}a`)).toBe("added");
    expect(await named("2", `${p}b`)).toBe("added");
    expect(await named("3", null)).toBe("added");
    expect(await named("4", `${p}a`)).toBe("alias");
    expect(await named("5", null)).toBe("alias");
    expect(await teams.update(`${p}2`, { organizationId: `${p}a` })).toBe("alias");
    expect(await teams.find(`${p}2`)).toMatchObject({ organizationId: `${p}b` });
    expect(await tenants.organization.update({ id: `${p}a` }, { alias })).toMatchObject({ alias });
    expect(await tenants.organization.update({ id: `${p}b` }, { alias })).toBe("alias");
    expect(await tenants.user.insert(userOf(`${p}u1`, { alias }))).toBe("added");
    expect(await tenants.user.insert(userOf(`${p}u2`, { alias }))).toBe("added");
  });

  it("has an e-mail once, in any case", async () => {
    const { tenants } = await store();
    const p = fresh();
    const email = `${p}ann@example.com`;
    expect(await tenants.user.insert(userOf(`${p}1`, { email }))).toBe("added");
    const other = userOf(`${p}2`, { email: email.toUpperCase() });
    expect(await tenants.user.insert(other)).toBe("taken");
    expect(await tenants.user.insert({ ...other, email: null })).toBe("added");
    expect(await tenants.user.update({ id: `${p}2` }, { email: email.toUpperCase() })).toBe(
      "taken",
    );
    expect(await tenants.user.update({ id: `${p}1` }, { email: null })).toMatchObject({
      email: null,
    });
    expect(await tenants.user.update({ id: `${p}2` }, { email })).toMatchObject({ email });
  });
}
