/** @sluice/runtime/dialect: adaptation of requests and replies to a provider's dialect. */

export { type ReplyRules, enforcedReplies } from "./enforced-reply.ts";
export type { SettleTerms } from "./fields/draft.ts";
export {
  type GatewayFieldKind,
  OWN_GATEWAY_FIELDS,
  gatewayFieldKind,
  isGatewayOnly,
} from "./fields/gateway-names.ts";
export { type SettledFields, droppedWith, settleFields } from "./fields/settle-fields.ts";
