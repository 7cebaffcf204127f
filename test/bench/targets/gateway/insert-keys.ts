/** Fills the key store of a running gateway. */

import { createHmac, createSecretKey } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { KEY_NUMBER } from "../../scenarios.ts";

/**
 * Inserts `count` keys into the store in a data folder. `keyOf` makes a key of its number, which
 * has the digits of `KEY_NUMBER`.
 */
export function insertKeys(
  dataDirectory: string,
  count: number,
  keyOf: (number: string) => string,
): void {
  const pepper = createSecretKey(
    Buffer.from(readFileSync(join(dataDirectory, "pepper"), "utf8").trim(), "hex"),
  );
  const database = new DatabaseSync(join(dataDirectory, "sluice.db"), { timeout: 20_000 });
  database.exec("begin immediate");
  const insert = database.prepare(
    `insert into virtual_key (id, digest, last4, models, tags, metadata, guardrails, blocked, created_at_ms)
     values (?, ?, ?, '[]', '[]', '{}', '[]', 0, 0)`,
  );
  for (let index = 0; index < count; index += 1) {
    const number = String(index).padStart(KEY_NUMBER.length, "0");
    const digest = createHmac("sha256", pepper).update(keyOf(number)).digest("hex");
    insert.run(`bench-${number}`, digest, number.slice(-4));
  }
  database.exec("commit");
  database.close();
}
