/** Customers as one generation bounds them. */

import {
  type BudgetRecord,
  type Customer,
  type CustomerRequest,
  GatewayError,
  type Identity,
  type MaybePromise,
} from "@sluice/contract";
import type { DeclaredTenant } from "../config/tenants/declared-tenants.ts";
import type { CustomerSettings } from "../config/snapshot.ts";
import type { KeyRing } from "../resources/key-ring.ts";
import { boundBy, scopesOfCustomer } from "../resources/tenants/compile-identity.ts";
import type { CustomerEntry } from "../resources/tenants/customer-memory.ts";
import type { AccessGroups, TenantSource } from "../resources/tenants/tenant-source.ts";

/** The source of a generation's customers. */
export interface CustomerParts {
  readonly settings: CustomerSettings;
  /** The customers that the files declare: they win over those of the store. */
  readonly declared: readonly DeclaredTenant<"customer">[];
  readonly tenants: TenantSource;
  readonly ring: KeyRing;
}

/** A customer with what it was made from: while that is the same, it is. */
interface Compiled {
  readonly customer: Customer;
  readonly budget: BudgetRecord | undefined;
  readonly groups: AccessGroups | undefined;
  /** Identities as the customer's record bounds them; none without a record. */
  readonly bound: WeakMap<Identity, Identity> | undefined;
}

const MAX_ID_BYTES = 256;
const MAX_SHOWN = 100;
/** Control characters of ASCII and of Latin-1, and halves of surrogate pairs. */
const UNFIT = /[\p{Cc}\p{Cs}]/u;
const NO_GROUPS: AccessGroups = new Map();

/** The customers of one generation. */
export class Customers {
  readonly #parts: CustomerParts;
  readonly #compiled = new WeakMap<CustomerEntry, Compiled>();
  readonly #declared: ReadonlyMap<string, CustomerEntry>;

  constructor(parts: CustomerParts) {
    this.#parts = parts;
    this.#declared = new Map(
      parts.declared.map((customer) => {
        const { organizationId, id } = customer;
        const record = { ...customer, createdAtMs: 0 };
        return [nameOf(organizationId, id), { organizationId, id, record }] as const;
      }),
    );
  }

  /** As `Authority.customerOf`. */
  of(identity: Identity, claimed: string | undefined): MaybePromise<CustomerRequest | undefined> {
    const { customerId: own } = identity;
    const id = own ?? (identity.mayNameCustomers === false ? undefined : claimed);
    if (id === undefined) return undefined;
    const { settings, ring } = this.#parts;
    const fault = own === undefined ? faultOf(id) : undefined;
    // Where the operator does not speak of customers, any text may stand where dialects name users.
    if (fault !== undefined && settings.newCustomers === undefined) return undefined;
    if (fault !== undefined) throw new GatewayError("invalid_field", fault, { param: "user" });
    const { organizationId = "" } = identity;
    const declared =
      this.#declared.size === 0 ? undefined : this.#declared.get(nameOf(organizationId, id));
    if (declared !== undefined) return this.#request(identity, declared);
    const entry = ring.customers.find(organizationId, id, {
      keyId: identity.keyId,
      maxBytes: settings.maxBytes,
      // A customer of a key is as known as the key.
      newCustomers: own === undefined ? settings.newCustomers : undefined,
    });
    return entry instanceof Promise
      ? entry.then((found) => this.#request(identity, found))
      : this.#request(identity, entry);
  }

  #request(identity: Identity, entry: CustomerEntry): MaybePromise<CustomerRequest> {
    const { record } = entry;
    const budgetId = record?.budgetId ?? this.#parts.settings.defaultBudget;
    const needsGroups =
      record !== undefined && (record.models.length > 0 || Object.keys(record.perModel).length > 0);
    if (budgetId === undefined && !needsGroups) {
      return this.#answer(identity, entry, undefined, undefined);
    }
    const budget = budgetId === undefined ? undefined : this.#parts.tenants.budget(budgetId);
    const groups = needsGroups ? this.#parts.tenants.accessGroups() : undefined;
    if (budget instanceof Promise || groups instanceof Promise)
      return Promise.all([budget, groups]).then(([found, all]) =>
        this.#answer(identity, entry, found?.value, all?.value),
      );
    return this.#answer(identity, entry, budget?.value, groups?.value);
  }

  #answer(
    identity: Identity,
    entry: CustomerEntry,
    budget: BudgetRecord | undefined,
    groups: AccessGroups | undefined,
  ): CustomerRequest {
    let compiled = this.#compiled.get(entry);
    if (compiled === undefined || compiled.budget !== budget || compiled.groups !== groups) {
      const customer = this.#customer(entry, budget, groups ?? NO_GROUPS);
      const bound = entry.record && new WeakMap<Identity, Identity>();
      this.#compiled.set(entry, (compiled = { customer, budget, groups, bound }));
    }
    const { customer, bound } = compiled;
    const { record, id } = entry;
    if (record === undefined || bound === undefined) return { customer, identity };
    let narrowed = bound.get(identity);
    if (narrowed === undefined) {
      narrowed = boundBy(identity, record, groups ?? NO_GROUPS);
      bound.set(identity, narrowed);
    }
    const isEnded = record.expiresAtMs !== null && record.expiresAtMs <= this.#parts.ring.nowMs();
    const named = { customer, identity: narrowed };
    return record.blocked || isEnded ? { ...named, refusal: refused(id, record.blocked) } : named;
  }

  #customer(
    { organizationId, id, record }: CustomerEntry,
    budget: BudgetRecord | undefined,
    groups: AccessGroups,
  ): Customer {
    const { settings, ring } = this.#parts;
    // The name of the default may be taken by a budget of one organization: it is that one's alone.
    const owner = record?.budgetId == null ? (budget?.organizationId ?? null) : null;
    const isForeign = owner !== null && owner !== organizationId;
    const scopes = scopesOfCustomer({
      scopeId: nameOf(organizationId, id),
      record,
      defaults: settings.defaults,
      budgetId: record?.budgetId ?? settings.defaultBudget,
      budget: isForeign ? undefined : budget,
      organizationId: organizationId === "" ? undefined : organizationId,
      groups,
    });
    const shown = settings.isHashed ? ring.digest(`customer:${organizationId}:${id}`) : id;
    return { id: shown, scopes };
  }
}

function nameOf(organizationId: string, id: string): string {
  return `${organizationId.length}:${organizationId}:${id}`;
}

/**
 * Why a text is no id of a customer: any text of up to 256 bytes of UTF-8 without control
 * characters is one. It is compared as it is: two different texts are two customers.
 */
function faultOf(id: string): string | undefined {
  const bytes = id.length > MAX_ID_BYTES ? Infinity : Buffer.byteLength(id);
  if (bytes > MAX_ID_BYTES) return `The id of the customer is longer than ${MAX_ID_BYTES} bytes.`;
  return UNFIT.test(id)
    ? "The id of the customer has a control character, or is no valid Unicode."
    : undefined;
}

function refused(id: string, isBlocked: boolean): GatewayError {
  const shown = JSON.stringify(id.slice(0, MAX_SHOWN));
  return new GatewayError(
    "permission_denied",
    `The customer ${shown} ${isBlocked ? "is blocked" : "has expired"}.`,
    { param: "user" },
  );
}
