/** `server.tls` with several workers: each process reads the certificates by itself. */

import { describe } from "vitest";
import { hasOpenssl, tlsTests } from "../support/listeners/tls.ts";

describe.skipIf(!hasOpenssl)("with 2 workers (openssl makes the certificates)", () => {
  tlsTests(2);
});
