/** Records come back as they were written, and change in the members that are named. */

import { EMPTY_AMOUNTS, type LimitBlock } from "@sluice/contract";
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

/** A block of limits of which everything is said, but for its budget. */
const FULL: LimitBlock = {
  alias: null,
  models: ["gpt-4o", "claude-*"],
  maxBudgetNanoUsd: 0,
  softBudgetNanoUsd: 4_000_000_001,
  budgetDuration: "30d",
  budgetAnchor: "creation",
  rpm: 0,
  tpm: 9_007_199_254_740_991,
  maxParallelRequests: 2,
  perModel: { "gpt-4o": { ...EMPTY_AMOUNTS, rpm: 5, maxBudgetNanoUsd: 7, budgetDuration: "1d" } },
  budgetId: null,
  budgetShare: "pool",
  tags: ["a", "ä"],
  allowedTags: ["b"],
  metadata: { nested: { list: [1, null, "\u2028"] } },
  guardrails: ["pii"],
  passthrough: true,
  blocked: true,
  expiresAtMs: 1_800_000_000_000,
  importedSpend: { nanoUsd: 12, atMs: 1_700_000_000_000 },
};
const SELF_SERVICE = {
  maxKeys: 0,
  upperBounds: { rpm: 9, maxBudgetNanoUsd: null, models: ["gpt-4o"] },
  defaults: { tpm: 4 },
};

/** The tests. */
export function roundTripTests(suite: Suite): void {
  everyKind(suite);
  changes(suite);
}

function everyKind({ it, expect, store, fresh }: Suite): void {
  it("keeps every member of every kind", async () => {
    const { tenants, teams, keys } = await store();
    const p = fresh();
    const [o, t, u, b] = [`${p}o`, `${p}t`, `${p}u`, `${p}b`];
    const limits = { ...FULL, budgetId: b };
    const budget = budgetOf(b, { rpm: 3, perModel: FULL.perModel, budgetAnchor: "creation" });
    const organization = organizationOf(o, { ...limits, alias: p, selfService: SELF_SERVICE });
    const team = teamOf(t, {
      ...limits,
      alias: p,
      organizationId: o,
      modelAliases: { fast: "gpt-4o-mini" },
      userBudgets: "ignore",
      memberDefaults: { rpm: 3, maxBudgetNanoUsd: null },
      selfService: SELF_SERVICE,
    });
    const user = userOf(u, {
      ...limits,
      alias: "Ann",
      kind: "service",
      email: `${p}Ann@example.com`,
      organizations: [o],
      roles: [
        { role: "viewer", place: { kind: "whole" } },
        { role: "admin", place: { kind: "organization", id: o } },
        { role: "keys", place: { kind: "team", id: t } },
      ],
    });
    const member = memberOf(u, t, { ...limits, role: "admin" });
    const customer = customerOf(" Ünïcode\u00a0 ", o, limits);
    const group = groupOf(`${p}g`, { organizationId: o, models: ["a", "b*"] });
    const key = keyOf(`${p}k`, {
      ...limits,
      digest: `${p}digest`,
      userId: u,
      teamId: t,
      organizationId: o,
      customerId: "c",
      mayNameCustomers: false,
      modelAliases: { fast: "gpt-4o-mini", "gpt-4o": "claude" },
      admin: true,
      spendScope: "team",
      madeWith: `${p}maker`,
    });
    expect(await tenants.budget.insert(budget)).toBe("added");
    expect(await tenants.organization.insert(organization)).toBe("added");
    expect(await teams.insert(team)).toBe("added");
    expect(await tenants.user.insert(user)).toBe("added");
    expect(await tenants.membership.insert(member)).toBe("added");
    expect(await tenants.customer.insert(customer)).toBe("added");
    expect(await tenants.access_group.insert(group)).toBe("added");
    expect(await keys.insert(key)).toBe("added");
    expect(await tenants.budget.find({ id: b })).toEqual(budget);
    expect(await tenants.organization.find({ id: o })).toEqual(organization);
    expect(await teams.find(t)).toEqual(team);
    expect(await tenants.user.find({ id: u })).toEqual(user);
    expect(await tenants.membership.find({ userId: u, teamId: t })).toEqual(member);
    expect(await tenants.customer.find({ id: customer.id, organizationId: o })).toEqual(customer);
    expect(await tenants.access_group.find({ id: group.id })).toEqual(group);
    expect(await keys.find(key.id)).toEqual(key);
    expect(await tenants.membership.find({ userId: t, teamId: u })).toBeUndefined();
    expect(await tenants.customer.find({ id: customer.id, organizationId: "" })).toBeUndefined();
  });
}

function changes({ it, expect, store, fresh }: Suite): void {
  it("changes the members that are named, and only those", async () => {
    const { tenants } = await store();
    const id = `${fresh()}u`;
    const user = userOf(id, { ...FULL, email: `${id}@example.com` });
    await tenants.user.insert(user);
    const changed = { rpm: null, models: [], email: null, perModel: {}, expiresAtMs: null };
    expect(await tenants.user.update({ id }, changed)).toEqual({ ...user, ...changed });
    expect(await tenants.user.update({ id }, {})).toEqual({ ...user, ...changed });
    expect(await tenants.user.find({ id })).toEqual({ ...user, ...changed });
    expect(await tenants.user.update({ id: `${id}2` }, { rpm: 1 })).toBeUndefined();
    expect(await tenants.user.update({ id: `${id}2` }, {})).toBeUndefined();
  });

  it("loses no change of many at once", async () => {
    const { tenants } = await store();
    const id = `${fresh()}b`;
    await tenants.budget.insert(budgetOf(id));
    // Changes at once have no order: each member has one writer in a round.
    for (let round = 1; round <= 10; round += 1) {
      const changes = [
        { rpm: round },
        { tpm: round },
        { maxParallelRequests: round },
        { maxBudgetNanoUsd: round },
        { perModel: { m: { ...EMPTY_AMOUNTS, tpm: round } } },
      ];
      // oxlint-disable-next-line no-await-in-loop -- rounds follow each other.
      await Promise.all(changes.map((change) => tenants.budget.update({ id }, change)));
      // oxlint-disable-next-line no-await-in-loop -- as above.
      expect(await tenants.budget.find({ id })).toMatchObject(Object.assign({}, ...changes));
    }
  });

  it("writes what the configuration declares, and leaves what is the store's", async () => {
    const { tenants, teams } = await store();
    const p = fresh();
    const [own, ofFile] = [`${p}own`, `${p}file`];
    await tenants.organization.insert(organizationOf(own, { rpm: 1, alias: p }));
    const declared = organizationOf(ofFile, { rpm: 5, alias: p, blocked: true, managedBy: "file" });
    expect(await tenants.organization.declare(declared)).toBe("declared");
    // Another record has the alias.
    const kept = { ...declared, alias: null };
    expect(await tenants.organization.find({ id: ofFile })).toEqual(kept);
    const later = { ...declared, rpm: 6, alias: `${p}new`, createdAtMs: 9 };
    expect(await tenants.organization.declare(later)).toBe("declared");
    expect(await tenants.organization.find({ id: ofFile })).toEqual({
      ...later,
      createdAtMs: declared.createdAtMs,
    });
    expect(await tenants.organization.declare(organizationOf(own, { rpm: 7 }))).toBe("declared");
    expect(await tenants.organization.find({ id: own })).toMatchObject({ rpm: 1, alias: p });
    expect(await tenants.organization.declare(organizationOf(own.toUpperCase()))).toBe("taken");
    // What the configuration no longer declares is the store's from its first change on.
    const id = { id: ofFile };
    expect(
      await tenants.organization.update(id, { managedBy: "store", blocked: false }),
    ).toMatchObject({ blocked: false });
    expect((await tenants.organization.find(id))?.managedBy).toBeUndefined();
    // References of a declared record need not be there.
    const team = teamOf(`${p}t`, { organizationId: `${p}none`, budgetId: `${p}none` });
    expect(await teams.declare?.({ ...team, managedBy: "file" })).toBe("declared");
    expect(await teams.find(team.id)).toEqual({ ...team, managedBy: "file" });
    expect(await tenants.membership.declare(memberOf(`${p}none`, team.id))).toBe("declared");
  });
}
