/** Records that routes of the admin listener show. */

import type { AdminAnswer } from "@sluice/admin-api";

/** What forms and views need of a block of limits. Lists may leave out what only pages show. */
export interface Limits {
  readonly models: readonly string[];
  readonly max_budget?: number | null;
  readonly soft_budget?: number | null;
  readonly budget_duration?: string | null;
  readonly rpm_limit?: number | null;
  readonly tpm_limit?: number | null;
  readonly max_parallel_requests?: number | null;
  readonly per_model: Readonly<Record<string, object>>;
  readonly budget_id: string | null;
  readonly tags: readonly string[];
  readonly guardrails: readonly string[];
  readonly metadata: object;
  readonly passthrough: boolean;
  readonly blocked: boolean;
  readonly expires: string | null;
  readonly created_at: string | null;
  readonly managed_by: string;
  readonly spend?: number | null;
  readonly budget_remaining?: number | null;
  readonly budget_reset_at?: string | null;
  readonly rpm_used?: number | null;
  readonly tpm_used?: number | null;
}

/** A key. */
export type KeyRow = AdminAnswer<"GET /key/info">["info"];

/** A page of keys: short rows, with the use of each. */
export type KeyPage = Extract<AdminAnswer<"GET /key/list">, { readonly next_cursor: unknown }>;

/** A key of a page. */
export type ListedKey = KeyPage["keys"][number];

/** What became of a key in a change of several. */
export type BulkResult = AdminAnswer<"POST /key/bulk">["results"][number];

/** A team. */
export type TeamRow = AdminAnswer<"GET /team/info">["team_info"];

/** A user. */
export type UserRow = AdminAnswer<"GET /user/info">["user_info"];

/** A role at a place. */
export type RoleView = UserRow["roles"][number];

/** A customer. */
export type CustomerRow = AdminAnswer<"GET /customer/info">["customer_info"];

/** An organization. */
export type OrganizationRow = AdminAnswer<"GET /organization/info">["organization_info"];

/** A page of members of teams. */
export type MemberPage = AdminAnswer<"GET /team/member_list">;

/** A member of a team. */
export type MemberRow = MemberPage["members"][number];

/** A page of requests. */
export type RequestPage = AdminAnswer<"GET /requests">;

/** A request in a list. */
export type RequestRow = RequestPage["requests"][number];
