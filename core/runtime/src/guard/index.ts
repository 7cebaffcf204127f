/**
 * @sluice/runtime/guard: runs guardrails on whole bodies and on streams in windows, with reversible
 * masks.
 */

export { GuardBreaker } from "./breaker.ts";
export { type BodyOptions, checkTexts } from "./document/body.ts";
export { GuardFailure } from "./failure.ts";
export { GuardrailRunner, type RunnerParts, GuardrailSession } from "./guardrail-runner.ts";
export { GuardrailSet } from "./guardrail-set.ts";
export type { SetBlock, SetSpan, SetVerdict } from "./joint-verdict.ts";
export { AskAgain, guardFailed, violation } from "./refusals.ts";
export { judgesSample } from "./self-test.ts";
export { type Report, SetPolicy, type SetPolicyOptions } from "./set-policy.ts";
export { chatStream } from "./stream/chat.ts";
export type { StreamDialect, StreamPiece, StreamTexts } from "./stream/dialect.ts";
export { guardFrames } from "./stream/guard-frames.ts";
export { nativeStream } from "./stream/native.ts";
export type { GuardedStreamOptions, StreamMode } from "./stream/options.ts";
export { GuardedStream } from "./stream/stream.ts";
export { TextWindow, type WindowOptions } from "./stream/window.ts";
export { RESTORER, Vault } from "./vault.ts";
