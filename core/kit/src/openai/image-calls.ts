/** Image calls of the reference dialect. */

export { decodeImages as decode } from "./images.ts";
export { imagesPerCall as perCall } from "./operations.ts";
