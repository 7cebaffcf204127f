/** The contract of shared state, and what its tests are made with. */

export * from "./claims.ts";
export * from "./contract.ts";
export * from "./under-test.ts";
