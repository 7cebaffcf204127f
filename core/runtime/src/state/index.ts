/**
 * @sluice/runtime/state: shared state within one process, for drivers, for the engine when a server
 * is away, and for tests.
 */

export {
  type DecisionOptions,
  type HeldReservation,
  type LocalDecisions,
  createDecisions,
} from "./decisions.ts";
export { type AloneMark } from "./alone-mark.ts";
export { type LocalRecords, type RecordOptions, createRecords } from "./records.ts";
export { type ResilientOptions, createResilientState } from "./resilient.ts";
export { TransientMap } from "./transient-map.ts";
export { type SlidingWindow, addNow, advance, createWindow } from "./window.ts";
