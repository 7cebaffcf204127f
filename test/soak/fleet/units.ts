/** Budgets of the proof: each holds for some keys, and is spent by calls of one price. */

import { randomBytes } from "node:crypto";
import { type KeyRecord, type Log, Secret, type Store } from "@sluice/contract";
import postgres from "@sluice/store-postgres";
import { organization, team, user } from "../../system/support/tenant-records.ts";
import { CALL_NANO_USD, type Gateway, MASTER_KEY } from "./gateways.ts";

/** Whose budget it is. */
const KINDS = ["key", "team", "organization", "user"] as const;
type Kind = (typeof KINDS)[number];

/** Calls that each budget is for. */
const CALLS: Readonly<Record<Kind, number>> = { key: 60, team: 120, organization: 160, user: 80 };
/** Requests in a minute of a key with a window. */
export const WINDOW = 120;

/** A budget and its keys. */
export interface Unit {
  readonly kind: Kind;
  readonly id: string;
  readonly keys: readonly string[];
  /** How many calls it is for. */
  readonly limit: number;
  /** How the counter in Redis begins. */
  readonly counter: string;
}

/** The keys of the proof. */
export interface ProofKeys {
  readonly units: readonly Unit[];
  /** Keys without limits, and keys with a window. */
  readonly free: readonly string[];
  readonly windowed: readonly string[];
}

interface MadeKey {
  readonly key: string;
  readonly id: string;
}

/** Makes the keys, at a gateway and in its store. */
export async function makeKeys(
  gateway: Gateway,
  databaseUrl: string,
  count: number,
): Promise<ProofKeys> {
  const store = await openStore(databaseUrl);
  const make = async (fields: object): Promise<MadeKey> => {
    const answer = await fetch(`${gateway.adminUrl}/key/generate`, {
      method: "POST",
      headers: { authorization: `Bearer ${MASTER_KEY}`, "content-type": "application/json" },
      body: JSON.stringify(fields),
    });
    const made = (await answer.json()) as {
      readonly key: string;
      readonly token_id: KeyRecord["id"];
    };
    if (answer.status !== 200) throw new Error(`/key/generate answered ${JSON.stringify(made)}`);
    return { key: made.key, id: made.token_id };
  };
  const units: Unit[] = [];
  for (let number = 0; number < count; number += 1)
    units.push(await makeUnit(KINDS[number % KINDS.length]!, store, make));
  const free = [await make({}), await make({}), await make({})];
  const windowed = [await make({ rpm_limit: WINDOW }), await make({ rpm_limit: WINDOW })];
  await store.stop();
  const keysOf = (made: readonly MadeKey[]): string[] => made.map(({ key }) => key);
  return { units, free: keysOf(free), windowed: keysOf(windowed) };
}

async function makeUnit(
  kind: Kind,
  { teams, tenants }: Store,
  make: (fields: object) => Promise<MadeKey>,
): Promise<Unit> {
  const limit = CALLS[kind];
  const maxBudgetNanoUsd = limit * CALL_NANO_USD;
  const id = `${kind}-${randomBytes(6).toString("hex")}`;
  const made: MadeKey[] = [];
  switch (kind) {
    case "key":
      made.push(await make({ max_budget: maxBudgetNanoUsd / 1e9 }));
      break;
    case "team":
      await teams.insert(team(id, { maxBudgetNanoUsd }));
      for (let key = 0; key < 3; key += 1) made.push(await make({ team_id: id }));
      break;
    case "organization":
      await tenants?.organization.insert(organization(id, { maxBudgetNanoUsd }));
      for (const teamId of [`${id}-a`, `${id}-b`]) {
        await teams.insert(team(teamId, { organizationId: id }));
        made.push(await make({ team_id: teamId }), await make({ team_id: teamId }));
      }
      break;
    case "user":
      await tenants?.user.insert(user(id, { maxBudgetNanoUsd }));
      made.push(await make({ user_id: id }), await make({ user_id: id }));
  }
  const subject = kind === "key" ? made[0]!.id : id;
  return {
    kind,
    id,
    limit,
    keys: made.map(({ key }) => key),
    counter: `budget:${kind}:${subject}:`,
  };
}

async function openStore(url: string): Promise<Store> {
  const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
  const clock = { now: () => Date.now(), monotonic: () => performance.now() };
  const store = postgres.create(
    { url: new Secret("url", url), pooler: "none", connections: 2, migrate: "off" } as never,
    { log, clock, dataDirectory: "/nonexistent" },
  );
  await store.start(AbortSignal.timeout(20_000));
  return store;
}
