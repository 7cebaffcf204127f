/** @sluice/kit: for plugin authors. */

export { admit } from "./admit.ts";
export { type AttemptStart, openAttempt } from "./attempt.ts";
export { type Branch, branchOf } from "./branch.ts";
export { isAmbiguous } from "./ambiguous.ts";
export { isAbandoned, isClientGone } from "./abandoned.ts";
export { type BudgetPeriod, budgetPeriod } from "./budget-period.ts";
export { defineGuardrail, defineProvider, defineState, defineStep, defineStore } from "./define.ts";
export { DURATION_PATTERN, parseDuration } from "./duration.ts";
export { bytesDocument, piecesDocument } from "./json/bytes-document.ts";
export { documentOf, jsonReply, parsedDocument, replaceMember, writtenDocument } from "./json/document.ts";
export { readMembers, type Member, type Members, type ShapeFault, type ShapeLimits } from "./json/members.ts";
export { isObject } from "./json/narrow.ts";
export { table } from "./json/table.ts";
export { hasRepeatedMembers } from "./json/repeated.ts";
export type { Charge, TokenKind } from "./money/charges.ts";
export { costBreakdown, type CostPart, costNanoUsd } from "./money/cost.ts";
export { pricedAs } from "./money/priced-as.ts";
export { type CostTerms, millionths } from "./money/terms.ts";
export { type FormBody, formBody, type FormFile } from "./multipart.ts";
export { addressOption, apiKeyOption, baseUrlOption, embeddingFormatsOption, secretOption } from "./options.ts";
export { passOn } from "./pass-on.ts";
export { parseSize, SIZE_PATTERN } from "./size.ts";
export { discardReply } from "./stream/discard.ts";
export { TimeLimit, unlessAborted } from "./waiting.ts";
export { type CaseVariant, caseVariant } from "./guard/case-variants.ts";
export { fromLocal, offsetMs } from "./zone.ts";
