/** The passthrough: native requests and replies, and what of them the gateway reads. */

export { type NativeFrame, nativeFrame, readNativeEvents, writeNativeEvent } from "./events.ts";
export { createUsageMeter, type UsageMeter } from "./meter.ts";
export { joinUsage, readHeaderUsage, readNativeUsage } from "./native-usage.ts";
export { nativeCall } from "./native-call.ts";
export { nativeUrl } from "./native-url.ts";
export { runPassthrough, type PassthroughOptions } from "./run.ts";
