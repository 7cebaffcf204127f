/** OpenAI's Responses API as an upstream: the native lane of its clients. */

export { LANE as lane, responsesCall as call } from "./lane.ts";
export { decodeResponse as decode } from "./reply.ts";
export { translateResponses as translate } from "./stream.ts";
