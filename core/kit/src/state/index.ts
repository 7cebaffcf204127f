/** @sluice/kit/state: shared state within one process, for drivers, for the engine when a server is away, and for tests. */

export * from "./decisions.ts";
export * from "./records.ts";
export { type Holder, holderOf, type PartLimits, Parts } from "./parts.ts";
export { type PlaceLimits, Places } from "./places.ts";
export { prefixedState, tenantState } from "./prefixed.ts";
export { TransientMap } from "./transient-map.ts";
export { createResilientState, type ResilientOptions } from "./resilient.ts";
