import { describe, expect, it, vi } from "vitest";
import { GatewayError, type HttpCall, type Provider } from "@sluice/contract";
import { authorize } from "./prepare-call.ts";

const CALL: HttpCall = {
  kind: "http",
  method: "POST",
  url: "https://acme.test/v1",
  headers: {},
  body: "{}",
};

function provider(complete: Provider["authorize"]): Provider {
  return (complete === undefined ? {} : { authorize: complete }) as Provider;
}

describe("a call's last touch", () => {
  it("is nothing for a constant credential, and nothing is waited for", () => {
    expect(authorize(provider(undefined), CALL, new AbortController().signal)).toBe(CALL);
  });

  it("is the provider's", async () => {
    const signed = authorize(
      provider(async (call) => ({ ...call, headers: { a: "b" } })),
      CALL,
      new AbortController().signal,
    );
    await expect(signed).resolves.toEqual({ ...CALL, headers: { a: "b" } });
  });

  it("keeps a gateway error, and makes one of any other", async () => {
    const away = new GatewayError("upstream_unreachable", "The token service is away.");
    const { signal } = new AbortController();
    await expect(
      authorize(
        provider(() => Promise.reject(away)),
        CALL,
        signal,
      ),
    ).rejects.toBe(away);
    const broken = authorize(
      provider(() => Promise.reject(new Error("secret detail"))),
      CALL,
      signal,
    );
    await expect(broken).rejects.toMatchObject({
      code: "upstream_auth_failed",
      message: expect.not.stringContaining("secret") as string,
    });
  });

  it("ends with the exchange, and after ten seconds", async () => {
    vi.useFakeTimers();
    try {
      const never = provider(() => new Promise(() => undefined));
      const controller = new AbortController();
      const left = authorize(never, CALL, controller.signal);
      const reason = new GatewayError("client_closed", "gone");
      controller.abort(reason);
      await expect(left).rejects.toBe(reason);
      const late = Promise.allSettled([authorize(never, CALL, new AbortController().signal)]);
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await late).toMatchObject([
        { status: "rejected", reason: { code: "upstream_timeout" } },
      ]);
    } finally {
      vi.useRealTimers();
    }
  });
});
