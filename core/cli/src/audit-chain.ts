/** The chain of the audit: whether its lines continue each other, and where it begins. */

import { hash } from "node:crypto";
import {
  AUDIT_PRUNED,
  AUDIT_START,
  type AuditLine,
  type AuditOutcome,
  auditText,
  type JsonObject,
} from "@sluice/contract";
import type { AskAdmin } from "./admin-client.ts";

/** Lines of one page. */
const PAGE = 1_000;

/** A page of `GET /audit`. */
export interface AuditPage {
  readonly lines: readonly JsonObject[];
  readonly next_cursor: string | null;
}

/** A line of the chain that was noted elsewhere. */
export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

/** Lines that the gateway deleted because of their age. */
interface PrunedLines {
  /** The last of them. */
  readonly through: number;
  readonly atMs: number;
}

/** What a walk found. */
export interface WalkedChain {
  readonly count: number;
  readonly last: AuditLine | undefined;
  /** Lines before the first one, where a line of the chain says that they were deleted. */
  readonly pruned: PrunedLines | undefined;
  /** Where the chain breaks; `undefined` when it is whole. */
  readonly breaks: string | undefined;
}

/** Walks the chain from its first line. `head` is a line that it must contain. */
export async function walkChain(ask: AskAdmin, head: ChainHead | undefined): Promise<WalkedChain> {
  let last: AuditLine | undefined;
  let first: AuditLine | undefined;
  let pruned: PrunedLines | undefined;
  let count = 0;
  let hasHead = head === undefined;
  for (let cursor = ""; ;) {
    const query = new URLSearchParams({ order: "oldest", limit: String(PAGE) });
    if (cursor !== "") query.set("cursor", cursor);
    const page = (await ask(`/audit?${query}`)) as AuditPage;
    for (const line of page.lines.map(lineOf)) {
      first ??= line;
      const breaks = faultOf(line, last) ?? otherThan(head, line);
      if (breaks !== undefined) return { count, last, pruned, breaks };
      if (line.seq === head?.seq) hasHead = true;
      if (saysPruned(line, first)) pruned = { through: first.seq - 1, atMs: line.atMs };
      last = line;
      count++;
    }
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  const breaks = beginning(first, pruned) ?? (hasHead ? undefined : withoutHead(head, first, last));
  return { count, last, pruned, breaks };
}

/** Whether a line is the gateway's own about all lines before the first one. */
function saysPruned({ action, actor, after }: AuditLine, first: AuditLine): boolean {
  return (
    action === AUDIT_PRUNED.action &&
    actor === AUDIT_PRUNED.actor &&
    after?.["through"] === first.seq - 1 &&
    after["hash"] === first.prevHash
  );
}

/** Why the first line cannot be the first. */
function beginning(
  first: AuditLine | undefined,
  pruned: PrunedLines | undefined,
): string | undefined {
  if (first === undefined || first.seq === 1 || pruned !== undefined) return undefined;
  return `The chain begins at line ${first.seq}, and no line of it says that the lines before were deleted because of their age: they are missing.`;
}

function withoutHead(
  head: ChainHead | undefined,
  first: AuditLine | undefined,
  last: AuditLine | undefined,
): string {
  if (head !== undefined && first !== undefined && head.seq < first.seq)
    return `Line ${head.seq} was deleted because of its age: the chain begins at line ${first.seq}. Take a later head from the log.`;
  return `The chain ends at line ${last?.seq ?? 0}, before line ${head?.seq}: its last lines are gone.`;
}

/** Why a line does not continue the chain. */
function faultOf(line: AuditLine, last: AuditLine | undefined): string | undefined {
  const seq = last === undefined ? line.seq : last.seq + 1;
  if (line.seq !== seq)
    return `The chain breaks at line ${seq}: it is missing, and line ${line.seq} follows.`;
  const before = last?.hash ?? (seq === 1 ? AUDIT_START : line.prevHash);
  if (line.prevHash !== before)
    return `The chain breaks at line ${seq}: it does not follow the line before it, one of which was replaced.`;
  if (line.hash !== hash("sha256", auditText(line), "hex"))
    return `The chain breaks at line ${seq}: its contents are not those that were written.`;
  return undefined;
}

function otherThan(head: ChainHead | undefined, line: AuditLine): string | undefined {
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
