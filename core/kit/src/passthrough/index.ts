/** The passthrough: native requests and replies, and their parts that the gateway reads. */

export { formField } from "./form-field.ts";
export { nativeCall } from "./native-call.ts";
export { nativeRoot } from "./native-url.ts";
export { readHeaderUsage, readNativeUsage } from "./native-usage.ts";
export { openaiEndpoints } from "./openai-endpoints.ts";
