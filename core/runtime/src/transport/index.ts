/** @sluice/runtime/transport: attempts, media and admission to upstreams. */

export { addedHeaders, answerHeaderNames, sentHeaders } from "./answer-headers.ts";
export { type AttemptObserver, type AttemptOptions, runAttempt } from "./attempt.ts";
export { gatewaysPassed, setCallHeader, withCallHeaders } from "./calls/call-headers.ts";
export {
  type NetworkEntry,
  type UpstreamDoor,
  type UpstreamEntry,
  beginAttemptAt,
  enterLocal,
  enterUpstream,
} from "./connections/enter-upstream.ts";
export { type CommitAfter, MAX_HELD_BYTES } from "./hold.ts";
export { type FetchedMedium, type MediaFetcher, createMediaFetcher } from "./media/fetch.ts";
export { type MediaInliner, createMediaInliner } from "./media/inline.ts";
export type { MediaKind } from "./media/type.ts";
export type { FirstContent } from "./replies/first-content.ts";
export { wholeAsStream } from "./replies/whole-stream.ts";
export type { DropListener } from "../stream/output.ts";
export { type ScriptedAnswer, type ScriptedCall, createScriptedUpstream } from "./scripted.ts";
export { byteLengthInTurns } from "./calls/prepare-call.ts";
export { blocksInTurns } from "./calls/written-body.ts";
