/** @sluice/runtime/internals: the names that the test kit shares with the runtime. */

export { StreamOutput } from "./stream/output.ts";
export { createFormedReader, createStreamReader } from "./stream/reader.ts";
