import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createLog } from "../../telemetry/log.ts";
import { listen } from "./listen.ts";
import { TlsFiles } from "./tls-files.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-listen-"));
const [key, certificate] = [join(folder, "tls.key"), join(folder, "tls.crt")];
const made = spawnSync("openssl", [
  ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split(" "),
  "-subj",
  "/CN=listen.test",
  "-keyout",
  key,
  "-out",
  certificate,
]);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("closing a listener", () => {
  it.skipIf(made.status !== 0)(
    "cuts connections in a TLS handshake, before their handshake times out (openssl makes the certificate)",
    async () => {
      const tls = new TlsFiles({ certificate, key }, createLog("silent"));
      const listener = await listen((_, response) => response.end(), "127.0.0.1", 0, { tls });
      const faults: unknown[] = [];
      listener.server.on("tlsClientError", (error: NodeJS.ErrnoException) =>
        faults.push(error.code),
      );
      const silent = connect(listener.port, "127.0.0.1").on("error", () => undefined);
      await once(listener.server, "connection");
      const ended = once(silent, "close");
      await listener.close();
      await ended;
      expect(faults).not.toContain("ERR_TLS_HANDSHAKE_TIMEOUT");
    },
  );
});
