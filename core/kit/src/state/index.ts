/** Shared state that belongs to one key. */

export { tenantState } from "./prefixed.ts";
