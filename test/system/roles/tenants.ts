/** A gateway with two organizations, their teams, and a user with an admin key for each role. */

import {
  type Amounts,
  EMPTY_AMOUNTS,
  EMPTY_KEY,
  EMPTY_LIMITS,
  EMPTY_TEAM,
  type KeyRecord,
  type Place,
  type Role,
  type RoleGrant,
  type SelfService,
  type Store,
  type TeamRecord,
  type TenantStore,
  type UserRecord,
} from "@sluice/contract";
import sqlite from "@sluice/store-sqlite";
import { randomBytes } from "node:crypto";
import { type GatewayProcess, MASTER_KEY, startGateway } from "../support/gateway-process.ts";
import { createWorkspace, type Workspace, type WorkspaceOptions } from "../support/workspace.ts";

/** An answer, with its body as JSON where it is. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** A caller: a user and the admin key. */
export interface Caller {
  readonly name: string;
  readonly userId: string;
  readonly key: string;
  readonly keyId: string;
  readonly roles: readonly RoleGrant[];
}

export const WHOLE: Place = { kind: "whole" };
export const organization = (id: string): Place => ({ kind: "organization", id });
export const team = (id: string): Place => ({ kind: "team", id });

const NO_TIME = { createdAtMs: 1_700_000_000_000 };
const log = { debug() {}, info() {}, warn() {}, error() {} };

/** The gateway, its store, and what makes tenants in it. */
export class Tenants {
  readonly workspace: Workspace;
  readonly gateway: GatewayProcess;
  readonly store: Store;

  constructor(workspace: Workspace, gateway: GatewayProcess, store: Store) {
    this.workspace = workspace;
    this.gateway = gateway;
    this.store = store;
  }

  get tables(): TenantStore {
    if (this.store.tenants === undefined) throw new Error("the store has no tenants");
    return this.store.tenants;
  }

  /** Asks the admin listener; the path with its method: `POST /key/update`. */
  async ask(call: string, body: object | undefined, key: string = MASTER_KEY): Promise<Answer> {
    const [method = "", path = ""] = call.split(" ");
    return send(`${this.gateway.adminUrl}${path}`, method, body, key);
  }

  /** Asks the public listener. */
  async askPublic(call: string, body: object | undefined, key: string): Promise<Answer> {
    const [method = "", path = ""] = call.split(" ");
    return send(`${this.gateway.publicUrl}${path}`, method, body, key);
  }

  async organization(id: string, parts: object = {}): Promise<string> {
    const record = { ...EMPTY_LIMITS, selfService: null, id, ...NO_TIME, ...parts };
    must(await this.tables.organization.insert(record));
    return id;
  }

  async customer(id: string, organizationId: string): Promise<void> {
    must(await this.tables.customer.insert({ ...EMPTY_LIMITS, id, organizationId, ...NO_TIME }));
  }

  async budget(id: string, organizationId: string | null, parts: Partial<Amounts> = {}) {
    const record = { ...EMPTY_AMOUNTS, budgetAnchor: "calendar", perModel: {} } as const;
    must(await this.tables.budget.insert({ ...record, id, organizationId, ...NO_TIME, ...parts }));
    return id;
  }

  async group(id: string, organizationId: string | null, models: readonly string[] = ["echo"]) {
    must(await this.tables.access_group.insert({ id, organizationId, models, ...NO_TIME }));
    return id;
  }

  async team(id: string, organizationId: string | null, parts: Partial<TeamRecord> = {}) {
    must(
      await this.store.teams.insert({ ...EMPTY_TEAM, id, organizationId, ...NO_TIME, ...parts }),
    );
    return id;
  }

  async user(id: string, parts: Partial<UserRecord> = {}): Promise<string> {
    must(
      await this.tables.user.insert({
        ...EMPTY_LIMITS,
        id,
        kind: "person",
        email: null,
        organizations: [],
        roles: [],
        ...NO_TIME,
        ...parts,
      }),
    );
    return id;
  }

  async member(userId: string, teamId: string, role: "admin" | "member" = "member") {
    must(
      await this.tables.membership.insert({ ...EMPTY_LIMITS, userId, teamId, role, ...NO_TIME }),
    );
  }

  /** A key of the store, whose secret no test uses. Returns its id. */
  async key(parts: Partial<KeyRecord>): Promise<string> {
    const id = `key_${randomBytes(6).toString("hex")}`;
    const digest = randomBytes(32).toString("hex");
    const record = { ...EMPTY_KEY, id, digest, last4: "last", ...NO_TIME, ...parts };
    must(await this.store.keys.insert(record));
    return id;
  }

  /** A key that the gateway makes, changed as the store can: its id and its secret. */
  async secret(parts: Partial<KeyRecord>): Promise<{ readonly id: string; readonly key: string }> {
    const { body } = await this.ask("POST /key/generate", {});
    const [id, key] = [String(body["token_id"]), String(body["key"])];
    const changed = await this.store.keys.update(id, parts);
    if (typeof changed !== "object") throw new Error(`the key was not changed: ${changed}`);
    return { id, key };
  }

  /** A user with roles and an admin key that the master key gave him. */
  async caller(
    name: string,
    roles: readonly RoleGrant[],
    parts: Partial<UserRecord> = {},
  ): Promise<Caller> {
    const userId = await this.user(`user-${name}`, { roles, ...parts });
    const { id, key } = await this.secret({ userId, admin: true });
    return { name, userId, key, keyId: id, roles };
  }

  /** Every record of the store, as a text: what no refused attempt may change. */
  async state(): Promise<string> {
    const { tables, store } = this;
    const limit = 500;
    const all = await Promise.all([
      tables.organization.list({ limit }),
      tables.user.list({ limit }),
      tables.membership.list({ limit }),
      tables.customer.list({ limit }),
      tables.budget.list({ limit }),
      tables.access_group.list({ limit }),
      store.teams.list({ limit }),
      store.keys.list({ offset: 0, limit }),
    ]);
    return JSON.stringify(all);
  }

  async close(): Promise<void> {
    await this.store.stop();
    await this.gateway.dispose();
    this.workspace.remove();
  }
}

/** Starts the gateway and opens its store beside it. `server` is the YAML of `server`. */
export async function startTenants(
  server?: string,
  more: Omit<WorkspaceOptions, "server"> = {},
): Promise<Tenants> {
  const workspace = createWorkspace(server === undefined ? more : { ...more, server });
  const gateway = await startGateway(workspace);
  const store = storeOf(workspace.dataDirectory);
  await store.start(AbortSignal.timeout(20_000));
  return new Tenants(workspace, gateway, store);
}

function storeOf(dataDirectory: string): Store {
  const clock = { now: () => Date.now(), monotonic: () => performance.now() };
  return sqlite.create({} as never, { log, clock, dataDirectory });
}

/** A self-service rule. */
export function selfService(parts: Partial<SelfService> = {}): SelfService {
  return { maxKeys: 10, upperBounds: {}, defaults: {}, ...parts };
}

/** The role of a grant, for names of tests. */
export function grant(role: Role, place: Place): RoleGrant {
  return { role, place };
}

async function send(url: string, method: string, body: object | undefined, key: string) {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") === true;
  const value = isJson ? (JSON.parse(text) as unknown) : {};
  return { status: response.status, body: (value ?? {}) as Answer["body"], text };
}

function must(outcome: string): void {
  if (outcome !== "added") throw new Error(`the record was not added: ${outcome}`);
}
