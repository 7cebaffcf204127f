/**
 * @sluice/runtime/passthrough: native requests and replies, and their parts that the gateway reads.
 */

export { type NativeFrame, nativeFrame, readNativeEvents, writeNativeEvent } from "./events.ts";
export { type MeteredReply, type UsageMeter, createUsageMeter } from "./meter.ts";
export {
  type NativeMatch,
  type NativeMatcher,
  createNativeMatcher,
  createOpenMatcher,
  pathFromRoot,
} from "./native-path.ts";
export { countNativePrompt } from "./native-prompt.ts";
export { type PassthroughOptions, runPassthrough } from "./run.ts";
