/** For upstreams that deviate from the reference dialect: their errors, histories and streams. */

export { type ErrorWords, readCompatibleError as readError } from "./compatible-errors.ts";
export { type HistoryRules, adaptMessage } from "./history.ts";
export { ChunkRepairer, type OwnFinishReasons } from "./repair/chunk-repairs.ts";
export { createRepairedTranslator as createTranslator } from "./repair/repaired-stream.ts";
export { splitCalls } from "./repair/split-calls.ts";
