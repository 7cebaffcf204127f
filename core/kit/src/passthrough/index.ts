/** The passthrough: the declaration of a provider's own API. */

export * as Native from "./native.ts";
