/** A provider's own API: where it is, its inference endpoints, and the usage in its replies. */

export { formField, formTexts } from "./form-field.ts";
export { nativeCall as call } from "./native-call.ts";
export { nativeRoot as root } from "./native-url.ts";
export { joinUsage, readHeaderUsage, readNativeUsage as readUsage } from "./native-usage.ts";
export { openaiEndpoints } from "./openai-endpoints.ts";
export { addToolUses, serverToolUses } from "./tool-uses.ts";
