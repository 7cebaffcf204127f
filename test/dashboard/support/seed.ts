/** Records and requests of a small company, for screenshots and for `npm run dev:dashboard`. */

import { readFileSync } from "node:fs";
import { admin, chat, type ConfigStatus } from "../../system/support/client.ts";
import { eventually } from "../../system/support/eventually.ts";
import { make, type Stand } from "./stand.ts";

interface NewKey {
  readonly key: string;
  readonly token_id: string;
}

/** Keys that the seed made, by their names. */
export type SeededKeys = ReadonlyMap<string, NewKey>;

const TEAMS = [
  {
    team_id: "support",
    team_alias: "Customer support",
    organization_id: "acme",
    max_budget: 400,
    soft_budget: 300,
    budget_duration: "1mo",
    rpm_limit: 1_200,
    tpm_limit: 200_000,
    models: ["gpt-4o", "gpt-4o-mini"],
  },
  {
    team_id: "search",
    team_alias: "Search and ranking",
    organization_id: "acme",
    max_budget: 0.02,
    budget_duration: "1d",
    models: ["gpt-4o-mini", "text-embedding-3-small"],
  },
  {
    team_id: "research",
    team_alias: "Research",
    organization_id: "acme",
    tpm_limit: 2_000_000,
    max_parallel_requests: 64,
  },
  {
    team_id: "mobile",
    team_alias: "Mobile apps",
    organization_id: "globex",
    max_budget: 50,
    budget_duration: "7d",
  },
];

const USERS = [
  {
    user_id: "ann@example.com",
    user_alias: "Ann Okafor",
    user_email: "ann@example.com",
    organizations: ["acme"],
    roles: [{ role: "admin", at: "organization", organization_id: "acme" }],
  },
  {
    user_id: "ben@example.com",
    user_alias: "Ben Silva",
    user_email: "ben@example.com",
    organizations: ["acme"],
    max_budget: 25,
    budget_duration: "1mo",
  },
  {
    user_id: "chen@example.com",
    user_alias: "Chen Li",
    user_email: "chen@example.com",
    organizations: ["globex"],
  },
  {
    user_id: "svc-indexer",
    user_alias: "Indexer",
    kind: "service",
    organizations: ["acme"],
    roles: [{ role: "viewer", at: "whole" }],
  },
];

/** A key of a user in a team needs the membership. */
const MEMBERS = [
  ["support", "ann@example.com", "admin"],
  ["search", "svc-indexer", "member"],
  ["research", "ben@example.com", "member"],
] as const;

const KEYS = [
  {
    key_alias: "support-bot",
    team_id: "support",
    models: ["gpt-4o", "gpt-4o-mini"],
    max_budget: 0.01,
    soft_budget: 0.005,
    budget_duration: "1mo",
    rpm_limit: 600,
    tags: ["bot"],
  },
  {
    key_alias: "support-desk",
    team_id: "support",
    user_id: "ann@example.com",
    max_budget: 20,
    budget_duration: "1mo",
  },
  {
    key_alias: "indexer",
    team_id: "search",
    user_id: "svc-indexer",
    models: ["text-embedding-3-small", "gpt-4o-mini"],
    tpm_limit: 50_000,
    rpm_limit: 60,
  },
  {
    key_alias: "notebook-ben",
    team_id: "research",
    user_id: "ben@example.com",
    duration: "30d",
    max_budget: 5,
    budget_duration: "1d",
  },
  { key_alias: "ios-app", team_id: "mobile", models: ["gpt-4o-mini"], rpm_limit: 3_000 },
  { key_alias: "android-app", team_id: "mobile", models: ["gpt-4o-mini"], rpm_limit: 3_000 },
  { key_alias: "leaked-in-a-log", team_id: "mobile", blocked: true },
  { key_alias: "trial", models: ["openai/*"], max_budget: 1, duration: "7d" },
  { key_alias: "flaky-client", team_id: "research", models: ["flaky", "gpt-4o-mini"] },
];

const ROUNDS = 4;
const QUESTION = "Where is my refund? ".repeat(12);
/** Of the form of a credential, and of no account. */
const MADE_UP_TOKEN = `ghp_${"0aB1cD2eF3".repeat(4).slice(0, 36)}`;
const WORDS =
  "The refund was sent on Tuesday and reaches the account within three working days. ".repeat(4);

/** Makes the records. */
export async function seedRecords({ gateway }: Stand): Promise<SeededKeys> {
  await make(gateway, "/organization/new", {
    organization_id: "acme",
    organization_alias: "Acme",
    max_budget: 1_000,
    budget_duration: "1mo",
    rpm_limit: 6_000,
  });
  await make(gateway, "/organization/new", {
    organization_id: "globex",
    organization_alias: "Globex",
  });
  await make(gateway, "/access_group/new", { access_group: "small", models: ["gpt-4o-mini"] });
  await make(gateway, "/budget/new", {
    budget_id: "starter",
    max_budget: 5,
    budget_duration: "1mo",
  });
  for (const team of TEAMS) await make(gateway, "/team/new", team);
  for (const user of USERS) await make(gateway, "/user/new", user);
  for (const [team_id, user_id, role] of MEMBERS)
    await make(gateway, "/team/member_add", { team_id, user_id, role });
  await make(gateway, "/customer/new", {
    customer_id: "c-1001",
    customer_alias: "Northwind",
    organization_id: "acme",
    max_budget: 10,
    budget_duration: "1mo",
  });
  await make(gateway, "/customer/new", {
    customer_id: "c-1002",
    organization_id: "acme",
    blocked: true,
  });
  const keys = new Map<string, NewKey>();
  for (const key of KEYS)
    keys.set(key.key_alias, await make<NewKey>(gateway, "/key/generate", key));
  return keys;
}

/**
 * Sends requests: good ones, streams, fallbacks, failures of the client and of the upstream.
 * Resolves with ids by what they show: `good`, `stream`, `fallback`, `refused`.
 */
export async function seedTraffic(
  stand: Stand,
  keys: SeededKeys,
): Promise<ReadonlyMap<string, string>> {
  const { gateway, upstream } = stand;
  upstream.script({ kind: "reply", text: WORDS, delayMs: 12 });
  upstream.script("gpt-4.1-mini", {
    kind: "error",
    status: 503,
    message: "The model is overloaded.",
  });
  const ids = new Map<string, string>();
  const ask = async (name: string, model: string, what: string, more = {}): Promise<void> => {
    const key = keys.get(name)?.key ?? "";
    const messages = [{ role: "user", content: QUESTION }];
    const response = await chat(
      gateway,
      { model, messages, ...more },
      { headers: { authorization: `Bearer ${key}` } },
    );
    await response.text();
    ids.set(what, response.headers.get("x-request-id") ?? "");
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    await ask("support-bot", "gpt-4o", "over budget");
    await ask("support-bot", "gpt-4o-mini", "stream", { stream: true });
    await ask("support-desk", "gpt-4o", "good", { user: "c-1001" });
    await ask("indexer", "gpt-4o-mini", "good");
    await ask("notebook-ben", "gpt-4o-mini", "good");
    await ask("ios-app", "gpt-4o-mini", "stream", { stream: true });
    await ask("flaky-client", "flaky", "fallback");
    await ask("indexer", "gpt-4o-mini", "masked", {
      messages: [{ role: "user", content: "The invoice of ann@example.com, please." }],
    });
    if (round === 0) continue;
    await ask("notebook-ben", "gpt-4o-mini", "in shadow", {
      messages: [{ role: "user", content: "How do we compare with Initech?" }],
    });
  }
  await ask("notebook-ben", "gpt-4o-mini", "guarded", {
    messages: [{ role: "user", content: `Why does ${MADE_UP_TOKEN} not work?` }],
  });
  await ask("ios-app", "gpt-4o", "refused");
  await ask("leaked-in-a-log", "gpt-4o-mini", "blocked");
  return ids;
}

/** Edits of the files: one that widens access, one that is refused, one that narrows it. */
export async function seedHistory({ gateway }: Stand): Promise<void> {
  const { workspace } = gateway;
  const first = readFileSync(workspace.configPath, "utf8");
  const more = first.replace(
    "\nmodels:\n",
    "\nmodels:\n  - { id: o3-mini, targets: [{ provider: openai, model: o3-mini }], access_groups: [large] }\n",
  );
  await edit(gateway, more, ({ live }) => live.generation === 2);
  await edit(
    gateway,
    more.replace("provider: backup, model: in-house", "provider: elsewhere, model: in-house"),
    ({ last_attempt: last }) => last?.outcome === "refused",
  );
  await edit(
    gateway,
    more.replace("  - { id: flaky,", "  - { id: flaky, access_groups: [research],"),
    ({ live }) => live.generation === 3,
  );
}

async function edit(
  gateway: Stand["gateway"],
  text: string,
  isDone: (status: ConfigStatus) => boolean,
): Promise<void> {
  gateway.workspace.write(text);
  await eventually("the edit to be judged", async () =>
    isDone((await (await admin(gateway, "/config/status")).json()) as ConfigStatus),
  );
}
