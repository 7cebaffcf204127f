/**
 * Anthropic's messages for packages that reach Claude another way: the same requests and replies,
 * another address.
 */

export { supports, traits } from "./models.ts";
export { DIALECT } from "./native.ts";
export { messagesBody, PARAMETERS, toolNames } from "./request.ts";
export { decodeMessage, readError, translateStream } from "./reply.ts";
