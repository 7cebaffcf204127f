/** @sluice/kit: for plugin authors. */

export { addGate, admit, type Gate } from "./admit.ts";
export { branchOf } from "./view.ts";
export { defineGuardrail, defineProvider, defineState, defineStep, defineStore } from "./define.ts";
export { documentOf, jsonReply } from "./json/document.ts";
export { isObject } from "./json/narrow.ts";
export { table } from "./json/table.ts";
export { type FormFile, formBody } from "./multipart.ts";
export { addressOption, apiKeyOption, baseUrlOption, embeddingFormatsOption, secretOption } from "./options.ts";
export { passOn } from "./pass-on.ts";
export { beginAttempt, receiveBody } from "./services.ts";
export { defineSlot, type Slot } from "./slots.ts";
export { withholdReply } from "./storable.ts";
export { budgetPeriod } from "./units/budget-period.ts";
export { parseDuration } from "./units/duration.ts";
export { waitForAnswer, within } from "./waiting.ts";
