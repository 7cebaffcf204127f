/**
 * A company's LiteLLM: 3 organizations, 20 teams, 200 users, 1,000 keys, 10 budgets and 5,000
 * customers, in every state that the checks of a request look at.
 */

import {
  type Columns,
  exportCsv,
  exportJsonLines,
  type ExportTable,
  keyRow,
  litellmSecret,
  teamRow,
  userRow,
} from "./export.fixture.ts";

export const MODELS = ["m1", "m2", "m3", "m4", "m5", "m6"] as const;

/** A row with the members that the checks read. */
export type Row = Columns & {
  readonly models?: readonly string[];
  readonly spend?: number;
  readonly max_budget?: number;
  readonly budget_id?: string;
  readonly model_max_budget?: Readonly<Record<string, { readonly max_budget: number }>>;
  readonly blocked?: boolean;
};

/** Everything that one export holds. */
export interface World {
  readonly organizations: readonly Row[];
  readonly budgets: readonly Row[];
  readonly groups: readonly Columns[];
  readonly aliases: readonly Columns[];
  readonly users: readonly Row[];
  readonly organizationMemberships: readonly Columns[];
  readonly teams: readonly Row[];
  readonly memberships: readonly Row[];
  readonly keys: readonly { readonly secret: string; readonly row: Row }[];
  readonly customers: readonly Row[];
}

const PAST = "2026-01-01T00:00:00";
const FUTURE = "2999-01-01T00:00:00";

/** Numbers that are the same in every run. */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Makes the world. Its secrets are new each time. */
export function makeWorld(): World {
  const random = numbers(19);
  const pick = <Item>(items: readonly Item[]): Item =>
    items[Math.floor(random() * items.length)] as Item;
  const budgets = makeBudgets();
  const organizations = makeOrganizations();
  const groups = [
    { access_group_id: "0b1c", access_group_name: "lab", access_model_names: ["m5"] },
  ];
  const teams = makeTeams();
  const users = Array.from({ length: 200 }, (_, index) => makeUser(index, random));
  const memberships = makeMemberships(teams, random);
  const keys = Array.from({ length: 1_000 }, (_, index) =>
    makeKey(index, { pick, random, teams, memberships }),
  );
  const customers = Array.from({ length: 5_000 }, (_, index) => makeCustomer(index));
  const organizationMemberships = [
    { user_id: "user-0", organization_id: "acme", user_role: "org_admin", spend: 0 },
    { user_id: "user-1", organization_id: "acme", user_role: "internal_user", spend: 0 },
  ];
  const aliases = [{ id: 7, aliases: { fast: "m1" }, created_by: "user-0" }];
  return {
    organizations,
    budgets,
    groups,
    aliases,
    users,
    organizationMemberships,
    teams,
    memberships,
    keys,
    customers,
  };
}

function makeBudgets(): Row[] {
  const rows: readonly Row[] = [
    { budget_id: "organization", max_budget: 1_000 },
    { budget_id: "organization-spent", max_budget: 5 },
    { budget_id: "organization-equal", max_budget: 7 },
    { budget_id: "member", max_budget: 100 },
    { budget_id: "member-spent", max_budget: 1 },
    { budget_id: "member-models", max_budget: 100, allowed_models: ["m1", "m2"] },
    { budget_id: "member-default", max_budget: 2 },
    { budget_id: "customer", max_budget: 50, tpm_limit: 1_000_000 },
    { budget_id: "customer-spent", max_budget: 2, budget_duration: "30d", budget_reset_at: FUTURE },
    { budget_id: "customer-models", max_budget: 50, model_max_budget: { m3: { max_budget: 0 } } },
  ];
  return rows.map((row) => ({ created_at: PAST, ...row }));
}

function makeOrganizations(): Row[] {
  const of = (id: string, budgetId: string, columns: Row): Row => ({
    organization_id: id,
    organization_alias: `The ${id}, "all" of it`,
    budget_id: budgetId,
    metadata: {},
    models: [],
    created_at: PAST,
    ...columns,
  });
  return [
    of("acme", "organization", { spend: 12.5, models: ["m1", "m2", "m3", "m4", "m5"] }),
    of("borealis", "organization-spent", { spend: 6 }),
    of("cetus", "organization-equal", { spend: 7 }),
  ];
}

/** Twenty teams: most of acme and of no organization. */
function makeTeams(): Row[] {
  const states: readonly Row[] = [
    {},
    { models: ["m1", "m2", "m3"] },
    { models: ["all-proxy-models"] },
    { models: ["m4"], access_group_ids: ["0b1c"] },
    { max_budget: 100, spend: 3 },
    { max_budget: 2, spend: 3 },
    { max_budget: 3, spend: 3 },
    { max_budget: 0, spend: 0 },
    { metadata: { team_member_budget_id: "member-default" } },
    { model_max_budget: { m6: { max_budget: 0 } } },
    { blocked: true },
    { model_id: 7 },
    {},
    { max_budget: 2, spend: 3, budget_duration: "30d", budget_reset_at: PAST },
    { max_budget: 2, spend: 3, budget_duration: "30d", budget_reset_at: FUTURE },
    { models: ["m1", "m6"] },
    {},
    {},
    {},
    {},
  ];
  return states.map((columns, index) => {
    const organization = ["acme", undefined, "acme", undefined][index % 4];
    const last = { 16: "borealis", 17: "cetus" }[index];
    return teamRow(`team-${index}`, {
      team_alias: `Team ${index}`,
      organization_id: last ?? organization ?? null,
      ...columns,
      // LiteLLM has the members in both places.
      members_with_roles: membersOf(index).map(({ user, role }) => ({ user_id: user, role })),
    }) as Row;
  });
}

/** Fifteen members a team; the first is its admin. */
function membersOf(team: number): readonly { readonly user: string; readonly role: string }[] {
  return Array.from({ length: 15 }, (_, index) => ({
    user: `user-${(team * 10 + index) % 200}`,
    role: index === 0 ? "admin" : "user",
  }));
}

function makeUser(index: number, random: () => number): Row {
  const states: readonly Row[] = [
    {},
    {},
    { max_budget: 100, spend: 4 },
    { max_budget: 3, spend: 4 },
    { max_budget: 4, spend: 4 },
    { models: ["m1", "m2"] },
    { models: ["no-default-models"] },
    { metadata: { scim_active: false } },
    {},
    { model_max_budget: { m2: { max_budget: 0 } } },
  ];
  const role = ["proxy_admin", "proxy_admin_viewer"][index] ?? "internal_user";
  return userRow(`user-${index}`, {
    user_alias: `User ${index}`,
    user_email: `user-${index}@example.com`,
    user_role: role,
    spend: Math.round(random() * 1e6) / 1e6,
    ...states[Math.floor(index / 2) % states.length],
  }) as Row;
}

function makeMemberships(teams: readonly Row[], random: () => number): Row[] {
  const budgets = ["member", "member-spent", "member-models", undefined, undefined];
  return teams.flatMap((team, index) =>
    membersOf(index).map(({ user }) => {
      const budget = budgets[Math.floor(random() * budgets.length)];
      const spend = budget === "member-spent" ? 1 : random() < 0.2 ? 2.5 : 0.25;
      return {
        user_id: user,
        team_id: team["team_id"],
        spend,
        total_spend: spend,
        ...(budget !== undefined && { budget_id: budget }),
      };
    }),
  );
}

interface Making {
  readonly pick: <Item>(items: readonly Item[]) => Item;
  readonly random: () => number;
  readonly teams: readonly Row[];
  readonly memberships: readonly Row[];
}

function makeKey(
  index: number,
  { pick, random, teams, memberships }: Making,
): { readonly secret: string; readonly row: Row } {
  const secret = litellmSecret();
  const owner = pick<Row>([
    { user_id: `user-${Math.floor(random() * 200)}` },
    { user_id: `user-${Math.floor(random() * 200)}`, organization_id: "acme" },
    { team_id: pick(teams)["team_id"] },
    { ...idsOf(pick(memberships)) },
    { ...idsOf(pick(memberships)) },
    { team_id: pick(teams)["team_id"], user_id: `user-${Math.floor(random() * 200)}` },
    { organization_id: pick(["acme", "borealis", "cetus"]) },
    { user_id: "left-long-ago" },
  ]);
  const staged = stagedKey(index);
  if (staged !== undefined) return keyOf(secret, index, staged.columns);
  const isOfTeam = typeof owner["team_id"] === "string";
  const state = random() < 0.75 ? {} : pick(KEY_STATES);
  const models = random() < 0.75 ? {} : pick(KEY_MODELS);
  const ofTeam = isOfTeam && random() < 0.2 ? { models: ["all-team-models"] } : {};
  const spend = Math.round(random() * 1e9) / 1e9;
  return keyOf(secret, index, { spend, ...owner, ...models, ...ofTeam, ...state });
}

function keyOf(secret: string, index: number, columns: Row): World["keys"][number] {
  return {
    secret,
    row: keyRow(secret, { key_alias: `key ${index}, "quoted"`, ...columns }) as Row,
  };
}

function idsOf({ user_id, team_id }: Columns): Row {
  return { user_id, team_id };
}

/** The last keys are in states that chance seldom makes, and are asked for a certain model. */
export function stagedKey(
  index: number,
): { readonly columns: Row; readonly model: string } | undefined {
  // A budget of their own for a model for which the team has none to give.
  if (index >= 990) return { columns: { team_id: "team-9", ...KEY_STATES.at(-1) }, model: "m6" };
  // A group that opens a model which the list of the team does not have.
  if (index >= 980) return { columns: { team_id: "team-15", ...KEY_MODELS.at(-1) }, model: "m5" };
  // A name that the key has for a model, and that its team has for another one.
  if (index >= 975)
    return { columns: { team_id: "team-11", aliases: { fast: "m2" } }, model: "fast" };
  // A name that the team has for a model.
  if (index >= 970) return { columns: { team_id: "team-11" }, model: "fast" };
  return undefined;
}

const KEY_STATES: readonly Row[] = [
  { blocked: true },
  { expires: PAST },
  { max_budget: 50, spend: 2.000000001 },
  { max_budget: 1, spend: 1.5 },
  { max_budget: 1, spend: 1 },
  { max_budget: 0, spend: 0 },
  { max_budget: 1, spend: 5, budget_duration: "30d", budget_reset_at: PAST },
  { max_budget: 1, spend: 5, budget_duration: "30d", budget_reset_at: FUTURE },
  { model_max_budget: { m4: { max_budget: 0 }, m6: { max_budget: 10 } } },
];

const KEY_MODELS: readonly Row[] = [
  { models: ["m1", "m2"] },
  { models: ["m3"] },
  { models: ["m1", "m2", "m3", "m4", "m6"] },
  { models: ["m1"], access_group_ids: ["0b1c"] },
];

function makeCustomer(index: number): Row {
  const states: readonly Row[] = [
    {},
    { budget_id: "customer", spend: 3 },
    { budget_id: "customer-spent", spend: 2.5 },
    { budget_id: "customer-spent", spend: 2 },
    { budget_id: "customer-models", spend: 0.5 },
    { models: ["m1", "m2"] },
    { blocked: true },
    { spend: 11 },
  ];
  return { user_id: `Customer-${index} of all`, alias: null, ...states[index % states.length] };
}

/** The files of an export: some as CSV, some as JSON lines. */
export function filesOf(world: World): Readonly<Record<string, string>> {
  const tables: readonly (readonly [string, ExportTable, readonly Columns[]])[] = [
    ["LiteLLM_EndUserTable.csv", "customer", world.customers],
    ["LiteLLM_VerificationToken.csv", "key", world.keys.slice(0, 500).map(({ row }) => row)],
    ["more-keys.jsonl", "key", world.keys.slice(500).map(({ row }) => row)],
    ["LiteLLM_TeamTable.csv", "team", world.teams],
    ["LiteLLM_TeamMembership.csv", "teamMembership", world.memberships],
    ["LiteLLM_UserTable.jsonl", "user", world.users],
    ["LiteLLM_OrganizationMembership.csv", "organizationMembership", world.organizationMemberships],
    ["LiteLLM_OrganizationTable.csv", "organization", world.organizations],
    ["LiteLLM_BudgetTable.csv", "budget", world.budgets],
    ["LiteLLM_AccessGroupTable.csv", "accessGroup", world.groups],
    ["LiteLLM_ModelTable.jsonl", "modelAliases", world.aliases],
  ];
  return Object.fromEntries(
    tables.map(([name, table, rows]) => [
      name,
      name.endsWith(".csv") ? exportCsv(table, rows) : exportJsonLines(table, rows),
    ]),
  );
}
