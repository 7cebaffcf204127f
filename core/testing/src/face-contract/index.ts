/** The contract suite of faces. */

export { FACE_CONTEXT, FACE_MEANS, type FaceClient } from "./cases.ts";
export { faceContract } from "./face-contract.ts";
export type { FaceContractOptions, FaceRunner, Fold } from "./options.ts";
export { readWireEvents, type WireEvent } from "./wire.ts";
