/** The records that the identity of a key is made from. */

import type {
  AccessGroupRecord,
  BudgetRecord,
  KeyRecord,
  LimitBlock,
  MaybePromise,
  TeamExtras,
  UserRecord,
} from "@sluice/contract";
import type { Found } from "./record-memory.ts";

/** The members of a block that bound a request. Absent ones limit nothing. */
export type Block = Partial<LimitBlock> & {
  /** When the record was made, milliseconds since 1970. Absent: 0. */
  readonly createdAtMs?: number;
};

/** A team with its block. */
export type TeamBlock = Block & Partial<TeamExtras>;

/** A user with the block, and the organizations besides those of the user's teams. */
export type UserBlock = Block & Partial<Pick<UserRecord, "organizations">>;

/** The access groups by their names. */
export type AccessGroups = ReadonlyMap<
  string,
  Pick<AccessGroupRecord, "organizationId" | "models">
>;

/** Where records are found: the store, or the files of a generation and then the store. */
export interface TenantSource {
  organization(id: string): MaybePromise<Found<Block>>;
  team(id: string): MaybePromise<Found<TeamBlock>>;
  user(id: string): MaybePromise<Found<UserBlock>>;
  membership(userId: string, teamId: string): MaybePromise<Found<Block>>;
  /** Whether a user belongs to an organization by one of its teams. */
  isInTeamOf(userId: string, organizationId: string): MaybePromise<Found<boolean>>;
  budget(id: string): MaybePromise<Found<BudgetRecord>>;
  /** A key of the store, by its id. */
  key(id: string): MaybePromise<Found<KeyRecord>>;
  accessGroups(): MaybePromise<Found<AccessGroups>>;
}
