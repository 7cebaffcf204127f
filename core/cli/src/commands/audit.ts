/** `sluice audit`: the changes that administrators made; `sluice audit verify`: their chain. */

import type { Command } from "commander";
import type { JsonObject } from "@sluice/contract";
import { adminClient, type AdminOptions, adminReplies } from "../admin-client.ts";
import { type AuditPage, type ChainHead, walkChain } from "../audit-chain.ts";
import { CommandError, EXIT } from "../exit.ts";
import { printTable } from "../print/records.ts";

type Options = AdminOptions & { readonly json?: boolean };
type ListOptions = Options &
  Readonly<
    Record<
      "actor" | "user" | "action" | "object" | "outcome" | "since" | "until" | "limit" | "cursor",
      string | undefined
    >
  >;
type VerifyOptions = Options & { readonly head?: string };

const FILTERS = [
  "actor",
  "user",
  "action",
  "object",
  "outcome",
  "since",
  "until",
  "limit",
  "cursor",
] as const;

/** Adds the commands. `shared` adds the options that say where the gateway is. */
export function addAuditCommands(audit: Command, shared: (command: Command) => Command): void {
  shared(audit.command("list", { isDefault: true }))
    .description("the changes and refusals of administration, newest first")
    .option("--actor <key>", "those of a credential: master, or the id of a key")
    .option("--user <id>", "those of a user")
    .option("--action <action>", "key.update and so on: docs/roles.md lists the actions")
    .option("--object <object>", "those of an object: key:key_…, team:support")
    .option("--outcome <outcome>", "begun, done, refused or failed")
    .option("--since <when>", "30m, 1h, 7d, or a time: 2030-01-31T12:00:00Z")
    .option("--until <when>", "the end, as --since")
    .option("--limit <count>", "how many, 1000 at most", "20")
    .option("--cursor <text>", "the next page, as the page before says it")
    .action(list);
  shared(audit.command("verify"))
    .description("walk the chain of the audit from its first line, and report where it breaks")
    .option("--head <seq:hash>", "a head from the log that the chain must contain")
    .action(verify);
  shared(audit.command("export"))
    .description("print the lines as JSON, one a line, the oldest first")
    .option("--actor <key>", "those of a credential: master, or the id of a key")
    .option("--user <id>", "those of a user")
    .option("--action <action>", "those of an action")
    .option("--object <object>", "those of an object")
    .option("--outcome <outcome>", "begun, done, refused or failed")
    .option("--since <when>", "30m, 1h, 7d, or a time: 2030-01-31T12:00:00Z")
    .option("--until <when>", "the end, as --since")
    .action(exportLines);
}

async function list(options: ListOptions): Promise<void> {
  const query = new URLSearchParams();
  for (const name of FILTERS) if (options[name] !== undefined) query.set(name, options[name]);
  const answer = (await adminClient(options)(`/audit?${query}`)) as AuditPage;
  if (options.json === true) {
    console.log(JSON.stringify(answer, null, 2));
    return;
  }
  printTable(COLUMNS, answer.lines);
  if (answer.next_cursor !== null) console.log(`More: --cursor ${answer.next_cursor}`);
}

const COLUMNS = {
  SEQ: (row: JsonObject) => row["seq"],
  AT: (row: JsonObject) => row["at"],
  ACTOR: (row: JsonObject) => row["user_id"] ?? row["actor"],
  ACTION: (row: JsonObject) => row["action"],
  OBJECT: (row: JsonObject) => row["object"],
  OUTCOME: (row: JsonObject) => row["outcome"],
  FIELDS: (row: JsonObject) => Object.keys((row["after"] ?? row["before"] ?? {}) as JsonObject),
  FROM: (row: JsonObject) => row["address"],
};

async function verify(options: VerifyOptions): Promise<void> {
  const walked = await walkChain(adminClient(options), headOf(options.head));
  const { count, last, breaks, pruned } = walked;
  const head = last === undefined ? null : { seq: last.seq, hash: last.hash };
  const before = pruned === undefined ? null : { through: pruned.through, at: isoOf(pruned.atMs) };
  if (options.json === true)
    console.log(
      JSON.stringify({ lines: count, head, pruned: before, broken: breaks ?? null }, null, 2),
    );
  if (breaks !== undefined) throw new CommandError(EXIT.findings, breaks);
  if (options.json === true) return;
  if (last === undefined) console.log("The audit has no line.");
  else
    console.log(
      `The chain of ${count} lines is whole. Its head is ${last.seq}:${last.hash}, of ${isoOf(last.atMs)}.`,
    );
  if (pruned !== undefined)
    console.log(
      `It begins at line ${pruned.through + 1}: the lines before were deleted by server.admin.keep_audit, the last time at ${isoOf(pruned.atMs)}.`,
    );
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** Prints every line, page after page. */
async function exportLines(options: ListOptions): Promise<void> {
  const ask = adminReplies(options);
  const query = new URLSearchParams();
  for (const name of EXPORTED) if (options[name] !== undefined) query.set(name, options[name]);
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- pages come one after the other.
    const { text, header } = await ask(`/audit/export?${query}`);
    process.stdout.write(text);
    const next = header("x-sluice-next-cursor");
    if (next === undefined) return;
    query.set("cursor", next);
  }
}

const EXPORTED = FILTERS.filter((name) => name !== "limit" && name !== "cursor");

function headOf(text: string | undefined): ChainHead | undefined {
  if (text === undefined) return undefined;
  const [, seq, hash = ""] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined)
    throw new CommandError(EXIT.usage, "--head must be a number and a hash: 17:3f0a…");
  return { seq: Number(seq), hash };
}
