/**
 * The signature of a thought that no provider signed. SDKs require one; a client that returns it
 * returns a thought without a signature.
 */

/** Base64 of `sluice:unsigned`. */
export const UNSIGNED = "c2x1aWNlOnVuc2lnbmVk";
