/** Definitions of plugins, documents, options, slots and waits. */

export { branchOf } from "./view.ts";
export {
  defineExtension,
  defineFace,
  defineGuardrail,
  defineProvider,
  defineState,
  defineStep,
  defineStore,
} from "./define.ts";
export { documentOf, jsonReply, writtenDocument } from "./json/document.ts";
export { isObject } from "./json/narrow.ts";
export { parseJson } from "./json/parse.ts";
export * as Form from "./form.ts";
export * as Option from "./option.ts";
export { passOn } from "./pass-on.ts";
export { defineSlot, type Slot } from "./slots.ts";
export * as Stages from "./stages.ts";
export { withholdReply } from "./storable.ts";
export { parseDuration } from "./units/duration.ts";
export { waitForAnswer, within } from "./waiting.ts";
