/** Images: sizes, aspect ratios, and a reply of images. */

export { aspectRatioOf, imagesReply as reply, readSize } from "../images.ts";
