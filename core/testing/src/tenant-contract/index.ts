/** The contract of tenants at rest. */

export { tenantStoreContract } from "./tenant-contract.ts";
export {
  budgetOf,
  customerOf,
  groupOf,
  keyOf,
  memberOf,
  organizationOf,
  teamOf,
  userOf,
} from "./records.ts";
