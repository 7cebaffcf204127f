/** The admin listener of one process, and read keys that a start refuses. */

import { describe, expect, it } from "vitest";
import { runCommand } from "../support/gateway-process.ts";
import { adminListenerTests, READ_KEY } from "../support/listeners/admin-listener.ts";
import { createWorkspace } from "../support/workspace.ts";

describe("with 1 worker", () => {
  adminListenerTests(1);
});

it("is refused where its variable is not set or too short", async () => {
  const workspace = createWorkspace({ server: 'admin: { read_key: "${env:READ_KEY}" }' });
  const checked = async (key: string | undefined) => {
    const command = runCommand(["check", "--config", workspace.configPath], workspace.folder, {
      READ_KEY: key,
    });
    const { code } = await command.ended;
    return { code, text: command.stdout + command.stderr };
  };
  try {
    const [whole, absent, short] = await Promise.all([
      checked(READ_KEY),
      checked(undefined),
      checked("short"),
    ]);
    expect([whole.code, absent.code === 0, short.code === 0]).toEqual([0, false, false]);
    expect(absent.text).toContain("server.admin.read_key");
  } finally {
    workspace.remove();
  }
});
