/** @sluice/runtime/dialect: adaptation of requests and replies to a provider's dialect. */

export { type ReplyRules, enforcedReplies } from "./enforced-reply.ts";
export type { SettleTerms } from "./fields/draft.ts";
export {
  type GatewayFieldKind,
  FOREIGN_GATEWAY_FIELDS,
  FOREIGN_PREFIXES,
  OWN_GATEWAY_FIELDS,
  gatewayFieldKind,
  isGatewayOnly,
} from "./fields/gateway-names.ts";
export { lowerExtensions } from "./fields/lower-extensions.ts";
export { thoughtsFor } from "./fields/thoughts-of.ts";
export { type LoweredThinking, lowerThinking } from "./fields/lower-thinking.ts";
export { type SettledFields, droppedWith, settleFields } from "./fields/settle-fields.ts";
