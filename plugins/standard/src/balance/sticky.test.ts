import { expect, it } from "vitest";
import { fakeExchange, fakeIdentity, fakeRequest } from "@sluice/testing";
import { stickyKey } from "./sticky.ts";

const asked = (keyId: string) =>
  fakeExchange({
    identity: fakeIdentity({ keyId }),
    client: { ...fakeExchange().client, header: () => "session-1" },
    request: fakeRequest(
      { model: "m", messages: [{ role: "user", content: "the same words" }] },
      { endUser: "alice" },
    ),
  });

it.each(["user", "header"] as const)("%s: what a client names is its own key's", (by) => {
  const [one, other] = [stickyKey(asked("a"), by, "x"), stickyKey(asked("b"), by, "x")];
  expect(stickyKey(asked("a"), by, "x")).toBe(one);
  expect(other).not.toBe(one);
});

it("prompt_prefix is the same for all keys, as the provider's prompt cache is", () => {
  expect(stickyKey(asked("a"), "prompt_prefix", "")).toBe(
    stickyKey(asked("b"), "prompt_prefix", ""),
  );
});
