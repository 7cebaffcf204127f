import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { formatCheck } from "@sluice/engine/doctor";
import { snapshotOf } from "@sluice/engine/snapshots";
import { checkPorts } from "./ports.ts";

const { server } = snapshotOf();

describe("the ports of a gateway", () => {
  it("tells a port that something else holds from a free one", async () => {
    const holder = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = holder.address() as AddressInfo;
      const { checks, isRunning } = await checkPorts({ ...server, port });
      expect(isRunning).toBe(false);
      expect(checks.map(({ grade }) => grade)).toEqual(["fail", "ok"]);
      expect(formatCheck(checks[0]!)).toMatch(
        /^fail {2}port: 127\.0\.0\.1:\d+ is in use by something else\n {6}End what holds it/,
      );
    } finally {
      await new Promise((resolve) => holder.close(resolve));
    }
  });
});
