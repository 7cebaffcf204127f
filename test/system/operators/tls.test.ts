/** `server.tls` in one process, and starts that it refuses. */

import { renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCommand } from "../support/gateway-process.ts";
import { hasOpenssl, makePair, TLS, tlsTests } from "../support/listeners/tls.ts";
import { createWorkspace } from "../support/workspace.ts";

describe.skipIf(!hasOpenssl)("with 1 worker (openssl makes the certificates)", () => {
  tlsTests(1);
});

describe.skipIf(!hasOpenssl)("a start", () => {
  it.each([
    ["a key of another certificate", true],
    ["a file that is missing", false],
  ])("with %s is refused by the names of the files", async (_what, hasFiles) => {
    const workspace = createWorkspace({ server: TLS });
    try {
      if (hasFiles) {
        makePair(workspace, "one");
        const folder = join(workspace.configPath, "../tls");
        renameSync(join(folder, "tls.crt"), join(folder, "old.crt"));
        makePair(workspace, "two");
        renameSync(join(folder, "old.crt"), join(folder, "tls.crt"));
      }
      const command = runCommand(["serve", "--config", workspace.configPath], workspace.folder);
      expect((await command.ended).code).not.toBe(0);
      expect(command.stderr).toMatch(/server\.tls: \S+tls\.crt and \S+tls\.key cannot be used: /);
    } finally {
      workspace.remove();
    }
  });
});
