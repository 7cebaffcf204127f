/**
 * @sluice/kit/internals: the names that the runtime and the engine share with the kit. They are not
 * for plugin authors and may change in any release.
 */

export { type Branch, parentOf, type ViewApart, viewApart } from "./view.ts";
export { checkReply } from "./check-reply.ts";
export {
  FIELD_RULES,
  type FieldRule,
  asksNothing,
  fieldRule,
  isToolField,
  offersTools,
  takesField,
} from "./dialect/fields/rules.ts";
export type { FinishReason } from "./dialect/finish.ts";
export {
  chunkWithBlocks,
  exactChunk,
  exactValue,
  replyWithBlocks,
  rewritten,
} from "./json/numbers/exact-reply.ts";
export { withPlainContents } from "./dialect/plain-content.ts";
export { base64Bytes } from "./dialect/request/data-url.ts";
export { usageJson } from "./dialect/usage.ts";
export type { JsonPath } from "./guard/document/at-path.ts";
export type { BodyText } from "./guard/document/body-text.ts";
export { Joined } from "./guard/document/join.ts";
export { isPlace } from "./guard/document/place-of.ts";
export { MEMBERS, type PlaceName } from "./guard/document/places.ts";
export { MAX_SPANS, applySpans, orderSpans } from "./guard/document/spans.ts";
export { withTexts } from "./guard/document/texts.ts";
export { withoutTokens } from "./guard/document/token-texts.ts";
export { isMachineId } from "./guard/vocabulary.ts";
export { EscapeReader, insideJson, plainPercents } from "./guard/words/escapes.ts";
export type { Place } from "./guard/words/find.ts";
export { asBuffer } from "./json/as-buffer.ts";
export { bytesDocument, piecesDocument } from "./json/bytes-document.ts";
export { parsedDocument, unwrittenPieces, writtenDocument } from "./json/document.ts";
export { isAtLeast } from "./json/sliced/length.ts";
export {
  type Member,
  type Members,
  type ShapeFault,
  type ShapeLimits,
  readMembers,
} from "./json/members.ts";
export { decodePages, markLength, PAGE_CHARACTERS, type PagedText } from "./json/paged-text.ts";
export { prepareJson } from "./json/prepared.ts";
export { hasRepeatedMembers, nodesOf } from "./json/nodes.ts";
export { type Sliced, parseInSlices } from "./json/sliced/parse.ts";
export { inputCount } from "./openai/embeddings/embeddings.ts";
export { base64ToFloats } from "./openai/embeddings/format.ts";
export { readSkeletonReply } from "./openai/embeddings/skeleton-reply.ts";
export { encodeChat } from "./openai/chat.ts";
export { encodeImages } from "./openai/images.ts";
export { TOOL_PARAMETERS } from "./openai/parameters.ts";
export { scrub } from "./openai/scrub.ts";
export { chunkFrame, rawFrame } from "./openai/stream.ts";
export { type ImageSize, imageSizeOf } from "./openai/tokens/image-size.ts";
export {
  BEDROCK_METRICS,
  carriedReply,
  joinUsage,
  pieces,
  usagePlace,
} from "./passthrough/native-usage.ts";
export { COMMON_ENDPOINTS } from "./passthrough/openai-endpoints.ts";
export { type Holder, type PartLimits, Parts, holderOf } from "./state/parts.ts";
export { type Deadline, deadlinesOf } from "./state/deadlines.ts";
export { type Ending, endingOf, LateSignal, signalOf } from "./state/late-signal.ts";
export { Listed, OpenList } from "./state/open-list.ts";
export { type PlaceLimits, Places } from "./state/places.ts";
export { Ranked, Ranking } from "./state/ranking.ts";
export { type Waiter, WaitQueue } from "./state/wait-queue.ts";
export { shadowSlots } from "./slots.ts";
export { prefixedState } from "./state/prefixed.ts";
export { isStorable } from "./storable.ts";
export { checkChunk, checkWholeReply } from "./dialect/reply-bounds.ts";
export { checkEvent } from "./stream/event-bounds.ts";
export { createEventReader } from "./stream/events.ts";
export type { ArrivedText } from "./stream/constant-text.ts";
export { type FormedEvents, FormedEventReader } from "./stream/formed-events.ts";
export {
  arrivedFrames,
  type BatchSource,
  BatchedFrames,
  FrameBatch,
  batchesOf,
  joinRelayed,
  startingWith,
} from "./stream/frame-batch.ts";
export { FrameRun } from "./stream/frame-run.ts";
export { Relay, type RelayedText, type RelayRules } from "./stream/relay.ts";
export {
  keepOriginal,
  originalOf,
  type OriginalReply,
  relayWhole,
  translationOf,
} from "./stream/relayed-reply.ts";
export { StreamForm } from "./stream/stream-form.ts";
export { type ConnectionPlace, ConnectionPlaces } from "./transport/connections/places.ts";
export { undici } from "./transport/connections/undici.ts";
export type { SendOptions, UpstreamResponse } from "./transport/calls/call-handler.ts";
export { asGatewayError } from "./transport/errors.ts";
export { ResponseBody } from "./transport/replies/body.ts";
export { excerptOf } from "./transport/replies/excerpt.ts";
export { mayMoveOn, moveLater } from "./transport/moving.ts";
export { Gathered } from "./transport/replies/gathered.ts";
export { beginNow, inTurns, nextTurn } from "./transport/turns.ts";
export {
  type Dispatching,
  Upstream,
  type UpstreamOptions,
  upstreamKey,
} from "./transport/upstream.ts";
export { DURATION_PATTERN } from "./units/duration.ts";
export { TimeLimit, unlessAborted } from "./waiting.ts";
export { textPieces } from "./text-pieces.ts";
