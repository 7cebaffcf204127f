import { describe, expect, it } from "vitest";
import { scrub } from "./scrub.ts";

describe("scrub", () => {
  it.each([
    ["a key", "sk-proj-Abc_123-xyz9"],
    ["a masked key", "sk-ab****************wxyz"],
    ["a Google key", "AIzaSyA1234567890abcdefghijklmnopqrstuv"],
    ["a Groq key", "gsk_abcdefghijklmnop1234"],
    ["an xAI key", "xai-abcdefghijklmnop1234"],
    ["a Hugging Face token", "hf_abcdefghijklmnop1234"],
    ["a bearer", "Bearer abc.def"],
    ["an AWS key id", "AKIAIOSFODNN7EXAMPLE"],
    ["a JSON web token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_1"],
    ["an organisation", "org-AbCdEf123456"],
    ["a project", "proj_AbCdEf123456"],
    ["a request id", "req_011CSHoEeqs5C35K2UUqR7Fy"],
    ["a URL", "https://user:pw@llm.internal:8443/v1?key=1"],
    ["an address", "10.1.2.3"],
    ["an address with its port", "192.168.0.1:8080"],
  ])("takes out %s", (_what, secret) => {
    const text = scrub(`Before ${secret} after.`);
    expect(text).toBe("Before [removed] after.");
  });

  it("leaves words alone", () => {
    const text =
      "This model's maximum context length is 8192 tokens; task-based risk-free organisation, version 4.1.";
    expect(scrub(text)).toBe(text);
  });

  it("keeps 500 characters", () => {
    expect(scrub("a ".repeat(10_000))).toHaveLength(501);
    expect(scrub("a".repeat(500))).toHaveLength(500);
  });

  it("takes out a key that the cut goes through", () => {
    for (let length = 470; length < 1_010; length++) {
      expect(scrub(`${"x".repeat(length)} sk-SECRETSECRETSECRETSECRETSECRETSECRET`)).not.toContain(
        "SECR",
      );
    }
  });
});
