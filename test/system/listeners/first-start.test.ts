/** The first start of a version writes what it compiled: before it accepts connections. */

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { freePorts } from "../support/free-ports.ts";
import { startOwnProcess } from "../support/gateway-process.ts";

it("has written its code when the first connection is accepted", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-code-"));
  const ports = await freePorts();
  const isAccepted = (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(Number(ports.SLUICE_PORT), "127.0.0.1");
      // A connection to a free port may reach itself.
      socket.on("connect", () => {
        resolve(socket.localPort !== socket.remotePort);
        socket.destroy();
      });
      socket.on("error", () => resolve(false));
    });
  const end = new AbortController();
  const written = (async () => {
    while (!end.signal.aborted && !(await isAccepted())) await pause(5);
    return filesIn(folder);
  })();
  const starting = startOwnProcess({}, { ...ports, NODE_COMPILE_CACHE: folder });
  starting.catch(() => end.abort());
  const gateway = await starting;
  try {
    const before = await written;
    await gateway.stop();
    // A stop writes what was compiled since.
    expect(before).toBeGreaterThan(filesIn(folder) / 2);
  } finally {
    await gateway.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
});

function filesIn(folder: string): number {
  return readdirSync(folder, { recursive: true }).length;
}
