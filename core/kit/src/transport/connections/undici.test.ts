import * as whole from "undici";
import { expect, it } from "vitest";
import { undici } from "./undici.ts";

it("has the package's own classes, read from their files", () => {
  const { Agent, buildConnector, Client, Pool } = undici();
  expect([Agent, buildConnector, Client, Pool]).toEqual([
    whole.Agent,
    whole.buildConnector,
    whole.Client,
    whole.Pool,
  ]);
  expect(Agent).toBe(whole.Agent);
});
