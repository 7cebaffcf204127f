/** @sluice/contract: what plugins and the engine agree on. Types, the error class, the codes. */

export * from "./attempt.ts";
export * from "./codes.ts";
export * from "./deployment.ts";
export * from "./error.ts";
export * from "./exchange.ts";
export * from "./face.ts";
export * from "./frame.ts";
export * from "./guardrail.ts";
export * from "./host.ts";
export * from "./identity.ts";
export * from "./json.ts";
export * from "./ledger.ts";
export * from "./metrics.ts";
export * from "./model.ts";
export * from "./native.ts";
export * from "./plugin.ts";
export * from "./provider.ts";
export * from "./reply.ts";
export * from "./secret.ts";
export * from "./shared-state.ts";
export * from "./step.ts";
export * from "./store.ts";
export * from "./target.ts";
export * from "./tenants/policy.ts";
export * from "./tenants/records.ts";
export * from "./usage.ts";
