/**
 * Tenants: organizations, teams, memberships, users, customers, budgets and access groups, as a
 * store keeps them. Keys and teams are in `../store.ts`; they have the same block of limits.
 */

import type { ImportedSpend } from "./imported-spend.ts";

/** When a budget's period begins: by the calendar, or counted from the creation of the record. */
export type BudgetAnchor = "calendar" | "creation";

/**
 * What a budget's name means for those who refer to it: a template that each has for itself, or one
 * counter for all.
 */
export type BudgetShare = "each" | "pool";

/** Amounts that bound spending and traffic; `null` is no limit. Money is nano-dollars. */
export interface Amounts {
  readonly maxBudgetNanoUsd: number | null;
  /** The spend from which the log and a header warn. It refuses nothing. */
  readonly softBudgetNanoUsd: number | null;
  /** The period of the budget: `1d`, `7d`, `1mo`, …. `null`: the budget never resets. */
  readonly budgetDuration: string | null;
  /** Requests and tokens in any span of one minute. */
  readonly rpm: number | null;
  readonly tpm: number | null;
  readonly maxParallelRequests: number | null;
}

/** The block of limits that every tenant has. */
export interface LimitBlock extends Amounts {
  /** A label. It may change, and names nothing that is kept. */
  readonly alias: string | null;
  /** Model ids, wildcards and access groups; empty means every model. */
  readonly models: readonly string[];
  readonly budgetAnchor: BudgetAnchor;
  /** The same limits for single models: by model id, wildcard or access group. */
  readonly perModel: Readonly<Record<string, Amounts>>;
  /** The name of a budget record whose limits hold besides these. */
  readonly budgetId: string | null;
  readonly budgetShare: BudgetShare;
  readonly tags: readonly string[];
  /** Tags that its requests may name even when other records carry them or they have a budget. */
  readonly allowedTags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly guardrails: readonly string[];
  /** Whether it reaches every native path of the providers. Applies only without a model list. */
  readonly passthrough: boolean;
  readonly blocked: boolean;
  /** Milliseconds since 1970. After it, its requests are refused. */
  readonly expiresAtMs: number | null;
  /** What it had spent before its import. Absent: nothing. */
  readonly importedSpend?: ImportedSpend;
}

/** The owner of a record: the configuration files, or the store through routes. */
export type ManagedBy = "file" | "store";

/** What every record of a tenant has. */
export interface TenantBase extends LimitBlock {
  /** Absent: `store`. */
  readonly managedBy?: ManagedBy;
  readonly createdAtMs: number;
}

/** Roles, from the weakest to the strongest. Each includes those before it. */
export type Role = "viewer" | "keys" | "operator" | "admin";

/** The place of a role: the whole gateway, an organization or a team. */
export type Place =
  | { readonly kind: "whole" }
  | { readonly kind: "organization" | "team"; readonly id: string };

/** A role at a place. */
export interface RoleGrant {
  readonly role: Role;
  readonly place: Place;
}

/** What the members of a place may make for themselves. */
export interface SelfService {
  /** Keys that a user may have there. 0: none. */
  readonly maxKeys: number;
  /** A key's limits may not exceed these; `null` members do not bound. */
  readonly upperBounds: Partial<Amounts> & { readonly models?: readonly string[] };
  /** Limits of a key that names none. */
  readonly defaults: Partial<Amounts>;
}

/** An organization: the border that nothing but providers and models crosses. */
export interface OrganizationRecord extends TenantBase {
  readonly id: string;
  readonly selfService: SelfService | null;
}

/** What holds for members of a team whose own records say nothing. */
export interface MemberDefaults extends Partial<Amounts> {
  /** Absent, and empty: those of the team. */
  readonly models?: readonly string[];
}

/** What a team has besides its block of limits. */
export interface TeamExtras {
  readonly organizationId: string | null;
  /** Names of its own for models: alias to model id. */
  readonly modelAliases: Readonly<Record<string, string>>;
  /** Whether budgets of its members as users count in it. */
  readonly userBudgets: "count" | "ignore";
  /** Limits, and models, of a member that has none of its own. */
  readonly memberDefaults: MemberDefaults;
  readonly selfService: SelfService | null;
}

/** A person or a service account, which cannot sign in. */
export interface UserRecord extends TenantBase {
  readonly id: string;
  readonly kind: "person" | "service";
  readonly email: string | null;
  /** Organizations that the user belongs to, besides those of the teams. */
  readonly organizations: readonly string[];
  readonly roles: readonly RoleGrant[];
}

/** A user in a team. `admin` is the role `keys` at the team. */
export interface MembershipRecord extends TenantBase {
  readonly userId: string;
  readonly teamId: string;
  readonly role: "admin" | "member";
}

/** The end user of an application. Two organizations may each have a customer of one id. */
export interface CustomerRecord extends TenantBase {
  /** As the request carries it, byte for byte. */
  readonly id: string;
  /** Empty: of keys without an organization. */
  readonly organizationId: string;
}

/** A named set of limits that tenants refer to. */
export interface BudgetRecord extends Amounts {
  readonly id: string;
  /** `null`: every tenant may refer to it. */
  readonly organizationId: string | null;
  readonly budgetAnchor: BudgetAnchor;
  readonly perModel: Readonly<Record<string, Amounts>>;
  readonly managedBy?: ManagedBy;
  readonly createdAtMs: number;
}

/** Models under one name, for lists of models. */
export interface AccessGroupRecord {
  readonly id: string;
  /** `null`: every tenant may name it. */
  readonly organizationId: string | null;
  readonly models: readonly string[];
  readonly managedBy?: ManagedBy;
  readonly createdAtMs: number;
}

/** The records by kind. */
export interface TenantRecords {
  readonly organization: OrganizationRecord;
  readonly user: UserRecord;
  readonly membership: MembershipRecord;
  readonly customer: CustomerRecord;
  readonly budget: BudgetRecord;
  readonly access_group: AccessGroupRecord;
}

export type TenantKind = keyof TenantRecords;

/**
 * The identity of a record: `id` alone; for a membership `userId` and `teamId`, for a customer `id`
 * and `organizationId`.
 */
export type TenantId<Kind extends TenantKind> = Kind extends "membership"
  ? { readonly userId: string; readonly teamId: string }
  : Kind extends "customer"
    ? { readonly id: string; readonly organizationId: string }
    : { readonly id: string };

/** Places and users whose records a reader may see. Empty lists: none. */
export interface TenantScope {
  readonly organizations: readonly string[];
  readonly teams: readonly string[];
  readonly users: readonly string[];
}

/**
 * Selects records of a kind, by their ids in order. A record must match all filters. A filter that
 * no record of the kind can match selects none.
 */
export interface TenantQuery {
  /** Records of an organization; `""`: customers of keys without one. */
  readonly organizationId?: string;
  readonly userId?: string;
  readonly teamId?: string;
  /** Records that refer to a budget. */
  readonly budgetId?: string;
  /** The beginning of the id or, but for customers, of the alias; as it is written. */
  readonly search?: string;
  /** Only records that belong to one of these. */
  readonly within?: TenantScope;
  /** The cursor of the page before. */
  readonly after?: string;
  readonly limit: number;
}

/** A page of records. `next` is absent after the last page. */
export interface TenantPage<Record> {
  readonly records: readonly Record[];
  readonly next?: string;
}

/**
 * The members of a record that may change. A budget and an access group stay in their
 * organization.
 */
export type TenantChanges<Kind extends TenantKind> = Partial<
  Omit<
    TenantRecords[Kind],
    | keyof TenantId<Kind>
    | "createdAtMs"
    | "importedSpend"
    | (Kind extends "budget" | "access_group" ? "organizationId" : never)
  >
>;

/**
 * Why a record was not written:
 *
 * - `taken`: another record has the id, or one that differs only by case, width, invisible
 *   characters or surrounding spaces (not of customers, whose ids are any bytes); or another user
 *   has the e-mail.
 * - `used`: the id was used before and deleted. Not of customers and memberships, which return.
 * - `alias`: another record of the organization has the alias. Users and memberships may share one.
 * - `missing`: an organization, team, user or budget that it refers to does not exist.
 * - `border`: what it refers to belongs to another organization.
 */
export type TenantConflict = "taken" | "used" | "alias" | "missing" | "border";

/** What becomes of the keys of something that is deleted. A blocked key keeps its references. */
export type KeysOfDeleted = "delete" | "block" | { readonly moveToTeam: string };

/**
 * What a deletion did.
 *
 * - `referenced`: other records refer to it, so it is still there.
 * - `missing`, `alias`, `border`: the keys could not be moved, so it is still there.
 */
export interface Deletion {
  readonly outcome: "deleted" | "absent" | "referenced" | "missing" | "alias" | "border";
  /** Ids of the keys that were deleted, blocked or moved. */
  readonly keys: readonly string[];
}

/** Records of one kind. Every write is one statement, or one transaction. */
export interface TenantTable<Kind extends TenantKind> {
  find(id: TenantId<Kind>): Promise<TenantRecords[Kind] | undefined>;
  list(query: TenantQuery): Promise<TenantPage<TenantRecords[Kind]>>;
  /** Adds a record. Its id is kept in Unicode NFC, that of a customer as it is. */
  insert(record: TenantRecords[Kind]): Promise<"added" | TenantConflict>;
  update(
    id: TenantId<Kind>,
    changes: TenantChanges<Kind>,
  ): Promise<TenantRecords[Kind] | TenantConflict | undefined>;
  /**
   * Writes the row of a record that the configuration declares, `managedBy: "file"`: adds it, or
   * replaces a row that is managed by the file. Its references need not exist, and an alias that
   * another record has is left out. A row of the store stays as it is. Returns `taken` for an id
   * that differs from another one as `TenantConflict` says: nothing is written then.
   */
  declare(record: TenantRecords[Kind]): Promise<"declared" | "taken">;
  /**
   * Deletes a record with what belongs to it alone: the memberships of a user, the customers of an
   * organization. An organization with teams, keys, budgets or access groups, and a budget to which
   * others refer, is `referenced`. `keys` are those of a user, or of a user in the team of a
   * membership; absent: they stay as they are.
   */
  delete(id: TenantId<Kind>, keys?: "delete" | "block"): Promise<Deletion>;
}

/** What reports call something, also after its deletion. */
export interface TenantName {
  readonly id: string;
  readonly alias: string | null;
  readonly organizationId: string | null;
  readonly teamId: string | null;
  readonly isDeleted: boolean;
}

/** The tables of all kinds. */
export type TenantStore = { readonly [Kind in TenantKind]: TenantTable<Kind> } & {
  /** The names of these ids, those of deleted ones included. Unknown ids are left out. */
  names(
    kind: "organization" | "team" | "user" | "key",
    ids: readonly string[],
  ): Promise<readonly TenantName[]>;
  /**
   * A user of now or before whose id is this one, or differs from it only as `taken` says. An id
   * that a key names may be that of no user, and is then a label for spend.
   */
  similarUser(id: string): Promise<SimilarUser | undefined>;
};

/** A user by an id that a key names. */
export interface SimilarUser {
  readonly id: string;
  readonly isDeleted: boolean;
}
