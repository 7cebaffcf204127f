/** `sluice status`, `history`, `reload`, `rollback` and `restart`: the configuration of the running gateway. */

import { type Command, InvalidArgumentError } from "commander";
import type { JsonObject } from "@sluice/spec";
import { adminClient, type AdminOptions } from "./admin-client.ts";
import { EXIT } from "./exit.ts";
import { printTable } from "./print-records.ts";

type Options = AdminOptions & { readonly json?: boolean };

interface Attempt {
  readonly outcome: string;
  readonly at: string;
  readonly digest: string | null;
  readonly generation: number | null;
  readonly findings: readonly { readonly text: string }[];
}

interface Origin {
  readonly generation: number;
  readonly digest: string;
  readonly origin: string | null;
  readonly contents_of: number | null;
  readonly forced: boolean;
}

interface Status {
  readonly live: (Origin & { readonly since: string; readonly leases: number; readonly notices: readonly string[] }) | null;
  readonly drift: { readonly files: readonly { readonly path: string; readonly change: string }[] };
  readonly last_attempt: Attempt | null;
  readonly waiting_for_restart: readonly string[];
  readonly workers?: readonly {
    readonly worker: number;
    readonly pid: number;
    readonly generation: number | null;
    readonly digest: string | null;
    readonly leases: number | null;
  }[];
  readonly draining: readonly { readonly generation: number; readonly leases: number; readonly oldest_age_ms: number }[];
}

type HistoryLine = Origin & { readonly at: string; readonly is_live: boolean; readonly changes: readonly string[] };

interface RestartResult {
  readonly outcome: string;
  readonly replaced: number;
  readonly workers: number;
  readonly reasons: readonly string[];
}

const SHOWN_DIGEST = 12;
/** Each new worker may take a while to be ready. */
const RESTART_TIMEOUT_MS = 300_000;

/** Adds the commands. `command` makes one with the options that say where the gateway is. */
export function addConfigCommands(command: (name: string, description: string) => Command): void {
  command("status", "what configuration runs, what was tried last, what still drains").action(async (options: Options) => {
    const status = (await adminClient(options)("/config/status")) as Status;
    if (options.json === true) console.log(JSON.stringify(status, null, 2));
    else printStatus(status);
  });
  command("history", "the generations that can be rolled back to, newest first").action(async (options: Options) => {
    const history = (await adminClient(options)("/config/history")) as JsonObject & {
      readonly generations: readonly HistoryLine[];
    };
    if (options.json === true) console.log(JSON.stringify(history, null, 2));
    else printTable(COLUMNS, history.generations as unknown as readonly JsonObject[]);
  });
  command("reload", "read the files again and apply them")
    .option("--force <digest>", "apply what the shrink guard refused; the finding says the digest")
    .action(async (options: Options & { readonly force?: string }) => {
      const { force } = options;
      await apply(options, "/config/reload", force === undefined ? {} : { force });
    });
  command("rollback", "apply an older generation again; the files stay as they are")
    .argument("[generation]", "its number; without one the newest before what runs", numberOf)
    .action(async (generation: number | undefined, options: Options) => {
      await apply(options, "/config/rollback", generation === undefined ? {} : { generation });
    });
  command("restart", "replace the worker processes one by one: new code of plugins, cold settings; no request fails").action(
    restart,
  );
}

async function restart(options: AdminOptions & { readonly json?: boolean }): Promise<void> {
  const result = (await adminClient(options, RESTART_TIMEOUT_MS)("/restart", {})) as RestartResult;
  if (options.json === true) console.log(JSON.stringify(result, null, 2));
  else {
    for (const line of result.reasons) console.log(line);
    console.log(`${result.outcome}: ${result.replaced} of ${result.workers} workers replaced`);
  }
  if (result.outcome !== "restarted") process.exitCode = EXIT.findings;
}

async function apply(options: Options, path: string, body: JsonObject): Promise<void> {
  const attempt = (await adminClient(options)(path, body)) as Attempt;
  if (options.json === true) console.log(JSON.stringify(attempt, null, 2));
  else printAttempt(attempt);
  if (attempt.outcome === "refused") process.exitCode = EXIT.findings;
}

function printStatus({ live, drift, last_attempt: last, draining, waiting_for_restart: waiting, workers = [] }: Status): void {
  if (live === null) console.log("no generation is live");
  else {
    const since = `since ${live.since}`;
    console.log(
      `running generation ${live.generation}${originOf(live)}, digest ${shortOf(live.digest)}, ${since}, ${live.leases} in flight`,
    );
    for (const notice of live.notices) console.log(`note: ${notice}`);
  }
  if (drift.files.length === 0) console.log("the files are what runs");
  else console.log(`the files differ from what runs: ${drift.files.map(({ path, change }) => `${path} (${change})`).join(", ")}`);
  if (waiting.length > 0) console.log(`changed since they were loaded, and wait for sluice restart: ${waiting.join(", ")}`);
  for (const { worker, pid, generation, digest, leases } of workers) {
    console.log(
      `worker ${worker} (pid ${pid}): generation ${generation}, digest ${shortOf(digest ?? "none")}, ${leases} in flight`,
    );
  }
  for (const { generation, leases, oldest_age_ms: ageMs } of draining) {
    console.log(`draining generation ${generation}: ${leases} in flight, the oldest for ${Math.round(ageMs / 1000)} s`);
  }
  if (last !== null) {
    console.log(`last attempt: ${last.outcome} at ${last.at}${last.digest === null ? "" : `, digest ${shortOf(last.digest)}`}`);
    for (const { text } of last.findings) console.log(text);
  }
}

function printAttempt({ outcome, digest, generation, findings }: Attempt): void {
  for (const { text } of findings) console.log(text);
  const made = generation === null ? "" : `: generation ${generation}`;
  console.log(`${outcome}${made}${digest === null ? "" : ` (digest ${shortOf(digest)})`}`);
}

function originOf({ origin, contents_of: of, forced }: Origin): string {
  if (of === null) return forced ? ", forced" : "";
  return origin === "rollback" ? ` = rollback of ${of}` : ` = contents of ${of}`;
}

function shortOf(digest: string): string {
  return digest.slice(0, SHOWN_DIGEST);
}

const COLUMNS: Parameters<typeof printTable>[0] = {
  generation: (row) => `${row["is_live"] === true ? "*" : " "}${String(row["generation"])}`,
  at: (row) => row["at"],
  digest: (row) => shortOf(String(row["digest"])),
  origin: (row) => `${String(row["origin"])}${row["contents_of"] === null ? "" : ` of ${String(row["contents_of"])}`}`,
  changes: (row) => row["changes"],
};

function numberOf(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be the number of a generation, as `sluice history` lists them.");
}
