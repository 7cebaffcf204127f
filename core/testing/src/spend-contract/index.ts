/** The contract of spend sums, and the model that it compares with. */

export * from "./model.ts";
export * from "./rows.ts";
export * from "./spend-contract.ts";
