import { describe, expect, it } from "vitest";
import { gatewayFieldKind, isGatewayOnly } from "./gateway-names.ts";

describe("a field that gateways know", () => {
  it.each([
    ["tags", "own"],
    ["litellm_metadata", "own"],
    ["disable_fallbacks", "own"],
    ["litellm_trace_id", "foreign"],
    ["mock_response", "foreign"],
    ["mock_testing_fallbacks", "foreign"],
    ["no-log", "foreign"],
    ["api_key", "foreign"],
    ["aws_secret_access_key", "foreign"],
    ["langfuse_secret_key", "foreign"],
    ["input_cost_per_image", "foreign"],
    ["input", undefined],
    ["aws", undefined],
    ["priority", "shared"],
    ["temperature", undefined],
    ["top_k", undefined],
    ["constructor", undefined],
  ])("%s is %s", (name, kind) => {
    expect(gatewayFieldKind(name)).toBe(kind);
  });

  it("belongs to an upstream whose dialect has it", () => {
    expect(isGatewayOnly("priority")).toBe(true);
    expect(isGatewayOnly("priority", ["priority"])).toBe(false);
    expect(isGatewayOnly("guardrails", ["guardrails"])).toBe(false);
    expect(isGatewayOnly("metadata")).toBe(false);
    expect(isGatewayOnly("messages")).toBe(false);
  });
});
