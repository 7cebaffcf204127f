/**
 * The certificate and key of the listeners: read from files at the start, and again when the files
 * change.
 */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Server as HttpsServer } from "node:https";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { errorMessage, type Log } from "@sluice/contract";
import type { TlsSettings } from "../../config/snapshot.ts";

/**
 * The interval of reading the files. A file watch would miss changes of links and mounted secrets.
 */
const LOOK_MS = 2_000;
const MIN_VERSION = "TLSv1.2";

/** The files of one process, for all of its listeners. */
export class TlsFiles {
  readonly #settings: TlsSettings;
  readonly #log: Log;
  readonly #servers = new Set<HttpsServer>();
  #options: SecureContextOptions;
  #digest: string;
  /** The last unusable contents, so that a fault is logged once. */
  #refused: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  /**
   * Reads the files. Throws an Error whose message names the file or the fault; it holds nothing of
   * the key.
   */
  constructor(settings: TlsSettings, log: Log) {
    this.#settings = settings;
    this.#log = log;
    const { certificate, key } = settings;
    const pair = [readFileSync(certificate, "utf8"), readFileSync(key, "utf8")] as const;
    this.#options = secureOptions(pair);
    this.#digest = digestOf(pair);
  }

  /** What a server starts with. */
  get options(): SecureContextOptions {
    return this.#options;
  }

  /** Gives a server every later certificate, until it closes. */
  renew(server: HttpsServer): void {
    this.#servers.add(server);
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref();
    server.once("close", () => {
      this.#servers.delete(server);
      if (this.#servers.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    });
  }

  async #look(): Promise<void> {
    const { certificate, key } = this.#settings;
    try {
      const pair = [await readFile(certificate, "utf8"), await readFile(key, "utf8")] as const;
      const digest = digestOf(pair);
      if (digest === this.#digest) {
        // Repaired: the same fault is logged again.
        this.#refused = undefined;
        return;
      }
      // A writer replaces one file after the other: a pair that does not match is read again.
      const options = secureOptions(pair);
      for (const server of this.#servers) server.setSecureContext(options);
      this.#options = options;
      this.#digest = digest;
      this.#refused = undefined;
      this.#log.info("the TLS certificate was read again", { certificate });
    } catch (error) {
      const reason = errorMessage(error);
      if (reason === this.#refused) return;
      this.#refused = reason;
      this.#log.error("the TLS certificate cannot be read again, and the one before stays", {
        certificate,
        reason,
      });
    }
  }
}

/**
 * Options of a matching pair. Throws for files that OpenSSL cannot read, and for a key of another
 * certificate.
 */
function secureOptions([cert, key]: readonly [string, string]): SecureContextOptions {
  const options: SecureContextOptions = { cert, key, minVersion: MIN_VERSION };
  // OpenSSL accepts an empty file, which is one that its writer has only begun.
  if (cert.trim() === "" || key.trim() === "")
    throw new Error(`the file of the ${cert.trim() === "" ? "certificate" : "key"} is empty`);
  createSecureContext(options);
  return options;
}

function digestOf([certificate, key]: readonly [string, string]): string {
  return createHash("sha256").update(certificate).update("\0").update(key).digest("hex");
}
