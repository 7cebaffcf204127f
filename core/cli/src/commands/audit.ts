/** `sluice audit`: the changes that administrators made; `sluice audit verify`: their chain. */

import type { Command } from "commander";
import { hash } from "node:crypto";
import {
  AUDIT_START,
  type AuditLine,
  type AuditOutcome,
  auditText,
  type JsonObject,
} from "@sluice/contract";
import { adminClient, type AdminOptions, type AskAdmin } from "../admin-client.ts";
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
/** Lines of one page of a verification. */
const PAGE = 1_000;

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
}

interface Page {
  readonly lines: readonly JsonObject[];
  readonly next_cursor: string | null;
}

async function list(options: ListOptions): Promise<void> {
  const query = new URLSearchParams();
  for (const name of FILTERS) if (options[name] !== undefined) query.set(name, options[name]);
  const answer = (await adminClient(options)(`/audit?${query}`)) as Page;
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
  const { count, last, breaks } = await walk(adminClient(options), headOf(options.head));
  const head = last === undefined ? null : { seq: last.seq, hash: last.hash };
  if (options.json === true)
    console.log(JSON.stringify({ lines: count, head, broken: breaks ?? null }, null, 2));
  if (breaks !== undefined) throw new CommandError(EXIT.findings, breaks);
  if (options.json === true) return;
  if (last === undefined) console.log("The audit has no line.");
  else
    console.log(
      `The chain of ${count} lines is whole. Its head is ${last.seq}:${last.hash}, of ${new Date(last.atMs).toISOString()}.`,
    );
}

interface Head {
  readonly seq: number;
  readonly hash: string;
}

function headOf(text: string | undefined): Head | undefined {
  if (text === undefined) return undefined;
  const [, seq, hash = ""] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined)
    throw new CommandError(EXIT.usage, "--head must be a number and a hash: 17:3f0a…");
  return { seq: Number(seq), hash };
}

interface Walked {
  readonly count: number;
  readonly last: AuditLine | undefined;
  /** Where the chain breaks; `undefined` when it is whole. */
  readonly breaks: string | undefined;
}

async function walk(ask: AskAdmin, head: Head | undefined): Promise<Walked> {
  let last: AuditLine | undefined;
  let count = 0;
  let hasHead = head === undefined;
  for (let cursor = ""; ;) {
    const query = new URLSearchParams({ order: "oldest", limit: String(PAGE) });
    if (cursor !== "") query.set("cursor", cursor);
    const page = (await ask(`/audit?${query}`)) as Page;
    for (const line of page.lines.map(lineOf)) {
      const breaks = faultOf(line, last) ?? otherThan(head, line);
      if (breaks !== undefined) return { count, last, breaks };
      if (line.seq === head?.seq) hasHead = true;
      last = line;
      count++;
    }
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  const breaks = hasHead
    ? undefined
    : `The chain ends at line ${last?.seq ?? 0}, before line ${head?.seq}: its last lines are gone.`;
  return { count, last, breaks };
}

/** Why a line does not continue the chain. */
function faultOf(line: AuditLine, last: AuditLine | undefined): string | undefined {
  const seq = (last?.seq ?? 0) + 1;
  if (line.seq !== seq)
    return `The chain breaks at line ${seq}: it is missing, and line ${line.seq} follows.`;
  if (line.prevHash !== (last?.hash ?? AUDIT_START))
    return `The chain breaks at line ${seq}: it does not follow the line before it, one of which was replaced.`;
  if (line.hash !== hash("sha256", auditText(line), "hex"))
    return `The chain breaks at line ${seq}: its contents are not those that were written.`;
  return undefined;
}

function otherThan(head: Head | undefined, line: AuditLine): string | undefined {
  if (line.seq !== head?.seq || line.hash === head.hash) return undefined;
  return `The chain breaks at line ${line.seq} or before: its hash is not ${head.hash}.`;
}

function lineOf(row: JsonObject): AuditLine {
  const text = (name: string): string | null => (row[name] ?? null) as string | null;
  const object = (name: string): JsonObject | null => (row[name] ?? null) as JsonObject | null;
  return {
    seq: Number(row["seq"]),
    atMs: Date.parse(String(row["at"])),
    actor: String(row["actor"]),
    userId: text("user_id"),
    session: text("session"),
    address: text("address"),
    action: String(row["action"]),
    object: text("object"),
    organizationId: text("organization_id"),
    teamId: text("team_id"),
    outcome: String(row["outcome"]) as AuditOutcome,
    before: object("before"),
    after: object("after"),
    requestId: text("request_id"),
    prevHash: String(row["prev_hash"]),
    hash: String(row["hash"]),
  };
}
