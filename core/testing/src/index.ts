/** @sluice/testing: what tests of plugins and of the gateway are made with. */

export * from "./upstream.ts";
export * from "./fault-upstream.ts";
export * from "./event-frame.ts";
export * from "./fake-clock.ts";
export * from "./fake-exchange.ts";
export * from "./fake-host.ts";
export * from "./fake-metrics.ts";
export * from "./fake-state.ts";
export * from "./proof.ts";
export * from "./run-step.ts";
export * from "./shared-state/index.ts";
export * from "./spend-contract/index.ts";
export * from "./fleet-contract/index.ts";
export * from "./tenant-contract/index.ts";
export * from "./contract/index.ts";
export * from "./extension-contract/index.ts";
export * from "./face-contract/index.ts";
export * from "./guardrail-contract.ts";
export { type Mutation, mutations } from "./guardrail-mutations.ts";
