/** The transport: calls out, replies in. */

export { type AttemptObserver, runAttempt, type AttemptOptions } from "./attempt.ts";
export { gatewaysPassed, setCallHeader, withCallHeaders } from "./call-headers.ts";
export type { ConnectionPlace } from "./connection-places.ts";
export { beginAttemptAt, enterUpstream, type UpstreamDoor } from "./enter-upstream.ts";
export { asGatewayError } from "./errors.ts";
export type { FirstContent } from "./first-content.ts";
export { Gathered } from "./gathered.ts";
export { type CommitAfter, MAX_HELD_BYTES } from "./hold.ts";
export { createMediaFetcher, type FetchedMedium, type MediaFetcher } from "./media-fetch.ts";
export { createMediaInliner, type MediaInliner } from "./media-inline.ts";
export type { MediaKind } from "./media-type.ts";
export { wholeAsStream } from "./whole-stream.ts";
export { createJsonService, type JsonService, type JsonServiceOptions } from "./json-call.ts";
export { readRetryAfterMs } from "./retry-after.ts";
export { createScriptedUpstream, type ScriptedAnswer, type ScriptedCall } from "./scripted.ts";
export { nextTurn } from "./turns.ts";
export { createTokenSource, openTokens, type TokenOptions, type TokenSource } from "./token.ts";
export { Upstream, upstreamKey, type SendOptions, type UpstreamOptions, type UpstreamResponse } from "./upstream.ts";
