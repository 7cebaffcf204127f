/** Parts of a provider's error, for dialects whose error object `readFailure` cannot give alone. */

export { errorBodyOf as bodyOf, refusalOf, wordsOf } from "../errors.ts";
