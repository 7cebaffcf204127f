/** Parts in the shape of the reference dialect, for upstreams that take or send that shape. */

export { extraContent, firstChoice } from "../reply.ts";
export {
  dataUrlOf,
  functionCall,
  functionTool,
  mediaText,
  textOrBlocks,
} from "../request/reference-shape.ts";
export { checkChunk, KeptOfStream } from "../reply-bounds.ts";
export { checkArguments } from "../../json/bounds/call-arguments.ts";
export { contentOrder, type ReplyPart } from "../reply-order.ts";
