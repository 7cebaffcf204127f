/** @sluice/kit/testing: what tests of plugins and of the gateway are made with. */

export * from "./upstream.ts";
