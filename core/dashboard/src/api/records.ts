/** Records that routes of the admin listener show, as far as the page looks. */

/** The block of limits that all records have. */
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
  /** Of the present period; lists of older gateways leave it out. */
  readonly spend?: number | null;
  readonly budget_remaining?: number | null;
  readonly budget_reset_at?: string | null;
}

/** A key. */
export interface KeyRow extends Limits {
  readonly token_id: string;
  readonly key_name: string | null;
  readonly key_alias: string | null;
  readonly declared: boolean;
  readonly user_id: string | null;
  readonly team_id: string | null;
  readonly organization_id: string | null;
  readonly customer_id: string | null;
  readonly admin: boolean;
  readonly spend_scope: string;
  readonly previous_key_until: string | null;
  readonly last_used_at?: string | null;
  /** `file:line` of a declared key. */
  readonly declared_in?: string | null;
}

/** `GET /key/list`. */
export interface KeyPage {
  readonly keys: readonly KeyRow[];
  readonly total_count?: number | null;
  readonly next_cursor?: string | null;
}

/** A team. */
export interface TeamRow extends Limits {
  readonly team_id: string;
  readonly team_alias: string | null;
  readonly organization_id: string | null;
}

/** A user. */
export interface UserRow extends Limits {
  readonly user_id: string;
  readonly user_alias: string | null;
  readonly user_email: string | null;
  readonly kind: "person" | "service";
  readonly organizations: readonly string[];
  readonly roles: readonly RoleView[];
}

/** A role at a place. */
export interface RoleView {
  readonly role: "viewer" | "keys" | "operator" | "admin";
  readonly at: "whole" | "organization" | "team";
  readonly organization_id?: string;
  readonly team_id?: string;
}

/** A customer. */
export interface CustomerRow extends Limits {
  readonly customer_id: string;
  readonly customer_alias: string | null;
  readonly organization_id: string | null;
}

/** An organization. */
export interface OrganizationRow extends Limits {
  readonly organization_id: string;
  readonly organization_alias: string | null;
}

/** A member of a team. */
export interface MemberRow extends Partial<Limits> {
  readonly user_id: string;
  readonly team_id: string;
  readonly role: "admin" | "member";
}

/** A request in a list. */
export interface RequestRow {
  readonly request_id: string;
  readonly started_at: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly operation: string | null;
  readonly model: string | null;
  readonly deployment: string | null;
  readonly key: { readonly id: string | null; readonly alias: string | null };
  readonly attempts: number;
  readonly total_tokens: number | null;
  readonly cost: number | null;
  readonly total_ms: number | null;
  readonly generation: number | null;
  readonly source: "ledger" | "memory";
}

/** `GET /requests`. */
export interface RequestPage {
  readonly requests: readonly RequestRow[];
  readonly next_cursor: string | null;
}
