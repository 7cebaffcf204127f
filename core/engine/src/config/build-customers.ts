/** The settings of customers of a snapshot. */

import { parseSize } from "@sluice/runtime";
import { amountsOf } from "./tenants/build-limits.ts";
import type { CustomersSection } from "./schema/customers.ts";
import type { CustomerSettings } from "./snapshot.ts";

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
/** What is remembered where the file says nothing. */
const DEFAULT_BYTES = 32 * 1024 * 1024;

/** The section `customers`. Without it, new customers are not bounded. */
export function customersOf(section: CustomersSection | undefined): CustomerSettings {
  if (section === undefined)
    return { isHashed: false, headers: [], maxBytes: DEFAULT_BYTES, defaults: amountsOf({}) };
  const [max = "", unit = ""] = section.new_customers.split("/");
  return {
    isHashed: section.ids === "hashed",
    headers: section.headers.map((name) => name.toLowerCase()),
    newCustomers: { max: Number(max), perMs: UNIT_MS[unit] ?? 0 },
    maxBytes: parseSize(section.memory) ?? DEFAULT_BYTES,
    ...(section.default_budget !== undefined && { defaultBudget: section.default_budget }),
    defaults: amountsOf(section.defaults),
  };
}
