/** The passthrough: native requests and replies, and what of them the gateway reads. */

export { type NativeFrame, nativeFrame, readNativeEvents, writeNativeEvent } from "./events.ts";
export { formField } from "./form-field.ts";
export { createUsageMeter, type UsageMeter } from "./meter.ts";
export { countNativePrompt } from "./native-prompt.ts";
export { joinUsage, readHeaderUsage, readNativeUsage } from "./native-usage.ts";
export { nativeCall } from "./native-call.ts";
export { createNativeMatcher, createOpenMatcher, type NativeMatch, type NativeMatcher, pathFromRoot } from "./native-path.ts";
export { nativeRoot, nativeUrl } from "./native-url.ts";
export { COMMON_ENDPOINTS, openaiEndpoints } from "./openai-endpoints.ts";
export { runPassthrough, type PassthroughOptions } from "./run.ts";
