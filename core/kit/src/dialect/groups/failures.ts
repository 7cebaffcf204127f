/** Parts of a provider's error, for dialects in which `readFailure` alone is not enough. */

export { errorBodyOf as bodyOf, refusalOf, wordsOf } from "../errors.ts";
