/** Guardrails: what one `check` becomes — whole bodies, streams in windows, reversible masking. */

export { type BodyOptions, judgeTexts } from "./body.ts";
export { GuardBreaker } from "./breaker.ts";
export { EscapeReader, insideJson, plainEscapes, plainPercents } from "./escapes.ts";
export { findPlaces, patternRule, type Place, reachOf, type TextRule, type Treatment, verdictOf } from "./find.ts";
export { type FoldedText, foldText, type FoldOptions } from "./fold.ts";
export { guardFrames } from "./guard-frames.ts";
export { GuardFailure, Judge, type JudgeParts, Judging } from "./judge.ts";
export {
  AskAgain,
  guardFailed,
  Panel,
  type PanelBlock,
  type PanelOptions,
  type PanelSpan,
  type PanelVerdict,
  type Report,
  violation,
} from "./panel.ts";
export { judgesSample } from "./self-test.ts";
export { applySpans, matchSpans, orderSpans } from "./spans.ts";
export { GuardedStream, type GuardedStreamOptions, type StreamMode } from "./stream.ts";
export { chatStream } from "./stream-chat.ts";
export type { StreamDialect, StreamPiece, StreamTexts } from "./stream-dialect.ts";
export { nativeStream } from "./stream-native.ts";
export type { BodyText } from "./body-text.ts";
export { type BodyTexts, bodyTexts, type JoinTexts, withTexts } from "./texts.ts";
export { isMachineId } from "./vocabulary.ts";
export { RESTORER, Vault } from "./vault.ts";
export { TextWindow, type WindowOptions } from "./window.ts";
export { WordFinder } from "./word-finder.ts";
