import assert from "node:assert/strict";
import { fakeExchange, fakeHost, fakeRequest, runStep } from "@sluice/testing";
import { isGatewayError } from "@sluice/contract";
import { describe, it } from "vitest";
import definition from "./index.ts";

const exchangeOf = (...texts: readonly string[]) =>
  fakeExchange({
    request: fakeRequest({
      model: "m",
      messages: texts.map((content) => ({ role: "user", content })),
    }),
  });

describe("the step acme", () => {
  const step = definition.create({ max_messages: 2 }, fakeHost());

  it("returns the number of messages in a header after the inner steps", async () => {
    const exchange = exchangeOf("one", "two");
    let headersBefore = -1;
    await runStep(step, { exchange }, async () => void (headersBefore = exchange.headers.size));
    assert.equal(headersBefore, 0);
    assert.equal(exchange.headers.get("x-acme-messages"), "2");
  });

  it("refuses a conversation with too many messages before the inner steps run", async () => {
    const inner = async (): Promise<void> => assert.fail("the inner steps ran");
    await assert.rejects(
      runStep(step, { exchange: exchangeOf("one", "two", "three") }, inner),
      (error) => {
        assert.ok(isGatewayError(error));
        assert.equal(error.code, "invalid_field");
        assert.equal(error.status, 400);
        assert.equal(error.param, "messages");
        return true;
      },
    );
  });
});
