/** @sluice/runtime/guard: runs guardrails on whole bodies and on streams in windows, with reversible masks. */

export { GuardBreaker } from "./breaker.ts";
export { type BodyOptions, checkTexts } from "./document/body.ts";
export { GuardFailure } from "./failure.ts";
export { GuardrailRunner, type RunnerParts, GuardrailSession } from "./guardrail-runner.ts";
export {
  AskAgain,
  GuardrailSet,
  type SetBlock,
  type GuardrailSetOptions,
  type SetSpan,
  type SetVerdict,
  type Report,
  guardFailed,
  violation,
} from "./guardrail-set.ts";
export { judgesSample } from "./self-test.ts";
export { chatStream } from "./stream/chat.ts";
export type { StreamDialect, StreamPiece, StreamTexts } from "./stream/dialect.ts";
export { guardFrames } from "./stream/guard-frames.ts";
export { nativeStream } from "./stream/native.ts";
export { GuardedStream, type GuardedStreamOptions, type StreamMode } from "./stream/stream.ts";
export { TextWindow, type WindowOptions } from "./stream/window.ts";
export { RESTORER, Vault } from "./vault.ts";
