import { fakeClock } from "@sluice/testing";
import { Secret } from "@sluice/contract";
import { describe, expect, it } from "vitest";
import { checkCredentials } from "./config.ts";
import { chainCredentials, type Credentials } from "./credentials.ts";

const MINUTE = 60_000;

/** A chain whose credentials last 60 minutes and that counts how often it is asked. */
function chain() {
  const clock = fakeClock();
  const state = { asked: 0, loads: 0, isDown: false };
  const load = async () => {
    state.loads++;
    return async (): Promise<Credentials> => {
      state.asked++;
      await Promise.resolve();
      if (state.isDown) throw new Error("metadata service");
      const expiration = new Date(clock.now() + 60 * MINUTE);
      return { accessKeyId: `id-${state.asked}`, secretAccessKey: "s", expiration };
    };
  };
  return { clock, state, source: chainCredentials("production", "us-east-1", clock, load) };
}

describe("the chain of credentials", () => {
  it("is asked once for all waiting callers, and again before they end", async () => {
    const { clock, state, source } = chain();
    const first = await Promise.all([source(), source(), source()]);
    expect(first.map(({ accessKeyId }) => accessKeyId)).toEqual(["id-1", "id-1", "id-1"]);
    clock.advance(54 * MINUTE);
    expect((await source()).accessKeyId).toBe("id-1");
    clock.advance(2 * MINUTE);
    expect((await source()).accessKeyId).toBe("id-2");
    expect(state).toMatchObject({ asked: 2, loads: 1 });
  });

  it("serves the old ones to their end while it fails", async () => {
    const { clock, state, source } = chain();
    await source();
    state.isDown = true;
    clock.advance(57 * MINUTE);
    expect((await source()).accessKeyId).toBe("id-1");
    clock.advance(4 * MINUTE);
    await expect(source()).rejects.toThrow("metadata service");
    state.isDown = false;
    expect((await source()).accessKeyId).toMatch(/^id-/);
  });

  it("says which package it needs", async () => {
    await expect(chainCredentials(undefined, "us-east-1", fakeClock())()).rejects.toMatchObject({
      code: "upstream_auth_failed",
      message: expect.stringContaining("npm install @aws-sdk/credential-providers@3") as string,
    });
  });
});

describe("the options", () => {
  const secret = new Secret("x", "x");

  it.each([
    [{ api_key: secret }],
    [{ access_key_id: secret, secret_access_key: secret }],
    [{ access_key_id: secret, secret_access_key: secret, session_token: secret }],
    [{ credentials: "chain" as const }],
    [{ credentials: "chain" as const, profile: "p" }],
  ])("have no fault: %j", (options) => {
    expect(checkCredentials({ region: "us-east-1", ...options })).toEqual([]);
  });

  it.each([
    [{}, "the provider has no credential"],
    [
      { api_key: secret, credentials: "chain" as const },
      "`api_key` and `credentials` are two credentials",
    ],
    [{ access_key_id: secret }, "`access_key_id` needs `secret_access_key`"],
    [{ secret_access_key: secret }, "`secret_access_key` needs `access_key_id`"],
    [{ api_key: secret, session_token: secret }, "`session_token` needs `access_key_id`"],
    [{ api_key: secret, profile: "p" }, "`profile` needs `credentials: chain`"],
  ])("are at fault: %j", (options, message) => {
    expect(checkCredentials({ region: "us-east-1", ...options })[0]).toMatchObject({ message });
  });
});
