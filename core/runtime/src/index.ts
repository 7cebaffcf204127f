/** @sluice/runtime: runs plugins. */

export { type Gate, addGate, admit, gatesOf } from "./transport/connections/enter-upstream.ts";
export { isAbandoned, isAmbiguous, isClientGone, isGoneCode } from "./lost-attempts.ts";
export { type AttemptStart, copyAttempt, openAttempt, writerOf } from "./attempt.ts";
export { mayBeCallHeader } from "./call-header-names.ts";
export { type CaseVariant, caseVariant } from "./guard/document/case-variants.ts";
export {
  type DetachedReply,
  type DetachedRun,
  KEEPER,
  KEEPING,
  type ReplyKeeper,
} from "./kept-replies.ts";
export { isModelOf, namesModel } from "./model-pattern.ts";
export type { Charge, TokenKind } from "./money/charges.ts";
export {
  type CostPart,
  type CostTerms,
  costBreakdown,
  costNanoUsd,
  millionths,
  pricedAs,
} from "./money/cost.ts";
export {
  MAX_DOLLARS,
  configuredNanoUsd,
  dollarText,
  dollarsOf,
  nanoUsdOf,
} from "./money/dollars.ts";
export { neverConnected } from "./never-connected.ts";
export { requestDigest } from "./request-digest.ts";
export { requestIdIn } from "./request-id-in.ts";
export {
  type ExchangeServices,
  SERVICES,
  beginAttempt,
  receiveBody,
  replyHold,
} from "./services.ts";
export {
  BILLING,
  type Billing,
  CUSTOMER,
  guardrailCounts,
  guardrailOutcomes,
  IS_JUDGED,
  IS_NATIVE,
  priceAttempt,
  recordGuardrail,
  REPLY_SIGNAL,
  REPLY_ORIGIN,
  type ReplyOrigin,
  SERVED,
  type UsageEstimate,
} from "./slots.ts";
export { type DateRange, dateRange } from "./spend/dates.ts";
export {
  booleanOf,
  cursorOf,
  invalidParameter,
  limitOf,
  MAX_ROWS,
  readParameters,
} from "./spend/parameters.ts";
export {
  readSpendReport,
  SPEND_REPORT_COLUMNS,
  SPEND_REPORT_PARAMETERS,
  type SpendReportRequest,
} from "./spend/report-query.ts";
export { makeSpendReport, spendGroupMembers, type SpendReportText } from "./spend/report-text.ts";
export { stackPlaces } from "./stack-places.ts";
export { closing } from "./stream/closing.ts";
export { discardReply } from "./stream/discard.ts";
export {
  bytesFor,
  framesFor,
  replayBytes,
  ReplayBuffer,
  replayFrames,
  type ReplayReader,
} from "./stream/replay-buffer.ts";
export {
  type BudgetPeriod,
  anchoredPeriod,
  budgetPeriod,
  importedSince,
} from "./units/budget-period.ts";
export { SIZE_PATTERN, parseSize } from "./units/size.ts";
export { leftOutByTags, mayHaveTarget, routedModel, targetFilter } from "./tag-routing.ts";
export { fromLocal, offsetMs } from "./units/zone.ts";
