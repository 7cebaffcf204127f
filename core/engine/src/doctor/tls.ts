/** The certificate and key of the listeners. */

import { errorReason } from "@sluice/contract";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { TlsSettings } from "../config/server-settings.ts";
import type { Check } from "./check.ts";

const SOON_DAYS = 14;
const DAY_MS = 86_400_000;

/** Looks at the files of `server.tls`. Nothing to look at without the section. */
export function checkTls(settings: TlsSettings | undefined, nowMs: number): Check[] {
  if (settings === undefined) return [];
  const name = "certificate";
  const { certificate, key } = settings;
  try {
    const read = new X509Certificate(readFileSync(certificate));
    if (!read.checkPrivateKey(createPrivateKey(readFileSync(key)))) {
      return [
        {
          name,
          grade: "fail",
          found: `${key} is not the key of ${certificate}`,
          fix: "Put both files of one pair there.",
        },
      ];
    }
    const days = Math.floor((read.validToDate.getTime() - nowMs) / DAY_MS);
    const found = `${certificate}, valid until ${read.validToDate.toISOString().slice(0, 10)}`;
    const fix = "Renew it: the gateway reads the files again when they change.";
    if (days < 0) return [{ name, grade: "fail", found, fix }];
    return [days < SOON_DAYS ? { name, grade: "warn", found, fix } : { name, grade: "ok", found }];
  } catch (error) {
    return [
      {
        name,
        grade: "fail",
        found: `${certificate} and ${key} cannot be used (${errorReason(error)})`,
        fix: "Name PEM files that this user can read in server.tls.",
      },
    ];
  }
}
