/** OAuth 2 tokens for `authorize`: fetched once, renewed in time. */

export { type TokenSource as Source, openTokens as open } from "./token.ts";
