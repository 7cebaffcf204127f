/** @sluice/runtime/internals: the names that the test kit shares with the runtime. */

export { createStreamReader } from "./stream/reader.ts";
