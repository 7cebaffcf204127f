/** `sluice spend`: sums of spend rows from the running gateway, as a table, JSON or CSV. */

import type { Command } from "commander";
import type { JsonObject } from "@sluice/contract";
import { type AdminOptions, adminReplies } from "../admin-client.ts";
import { printTable } from "../print/records.ts";

/** Options that are parameters of the route, and the parameters. */
const PARAMETERS = {
  by: "group_by",
  bucket: "bucket",
  from: "from",
  to: "to",
  organization: "organization_id",
  team: "team_id",
  user: "user_id",
  key: "api_key",
  tag: "tag",
  model: "model",
  provider: "provider",
  customer: "end_user",
  limit: "limit",
} as const;

type Options = AdminOptions &
  Readonly<Record<keyof typeof PARAMETERS, string | undefined>> & {
    readonly json?: boolean;
    readonly csv?: boolean;
  };

interface Report {
  readonly group_by: readonly string[];
  readonly bucket: string;
  readonly next_cursor: string | null;
  readonly data: readonly JsonObject[];
}

/** Adds the command. `command` makes one with the options that say where the gateway is. */
export function addSpendCommand(command: (name: string, description: string) => Command): void {
  command("spend", "money, tokens and requests by team, key, model, …; days and hours are UTC")
    .option(
      "--by <what>",
      "one or two of organization, team, user, key, tag, model, provider, customer: team,model",
    )
    .option("--bucket <span>", "hour, day or none", "none")
    .option("--from <date>", "the first day or hour: 2030-01-31, 2030-01-31T08:00Z")
    .option("--to <date>", "the last day, or the hour at which the report ends")
    .option("--organization <id>", "spend of one organization")
    .option("--team <id>", "spend of one team")
    .option("--user <id>", "spend of one user")
    .option("--key <key>", "spend of one key, by its id or alias")
    .option("--tag <tag>", "spend of rows with the tag")
    .option("--model <id>", "spend of one model")
    .option("--provider <name>", "spend at one provider")
    .option("--customer <id>", "spend of one customer")
    .option("--limit <count>", "without a bucket: those with the highest spend, so many")
    .option("--csv", "print CSV")
    .action(spend);
}

async function spend(options: Options): Promise<void> {
  const query = new URLSearchParams();
  for (const [option, parameter] of Object.entries(PARAMETERS)) {
    const value = options[option as keyof typeof PARAMETERS];
    if (value !== undefined) query.set(parameter, value);
  }
  // The highest spend is one page; everything is pages in the order of time.
  const isTop = options.bucket === "none" && options.limit !== undefined;
  if (isTop) query.set("order", "spend");
  const ask = adminReplies(options);
  if (options.csv === true) {
    await printCsv(query, ask);
    return;
  }
  const pages: Report[] = [];
  do {
    const cursor = pages.at(-1)?.next_cursor;
    if (typeof cursor === "string") query.set("cursor", cursor);
    pages.push((await ask(`/spend/report?${query}`, undefined, true)).json as Report);
  } while (options.limit === undefined && typeof pages.at(-1)?.next_cursor === "string");
  const data = pages.flatMap((page) => page.data);
  if (options.json === true) {
    console.log(
      JSON.stringify({ ...pages[0], next_cursor: pages.at(-1)?.next_cursor, data }, null, 2),
    );
    return;
  }
  printTable(columnsOf(data), data);
}

async function printCsv(
  query: URLSearchParams,
  ask: ReturnType<typeof adminReplies>,
): Promise<void> {
  query.set("format", "csv");
  for (let isFirst = true; ; isFirst = false) {
    const { text, header } = await ask(`/spend/report?${query}`);
    const start = isFirst ? 0 : text.indexOf("\n") + 1;
    process.stdout.write(text.slice(start));
    const cursor = header("x-sluice-next-cursor");
    if (cursor === undefined || query.has("limit")) return;
    query.set("cursor", cursor);
  }
}

/** Amounts that a table shows behind what the groups are of. */
const AMOUNTS = [
  "spend",
  "requests",
  "failed_rows",
  "unpriced_rows",
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
];
/** Members that a table leaves out. */
const HIDDEN = new Set([
  "lost_spend",
  "spend_nano_usd",
  "rows",
  "partial_rows",
  "estimated_rows",
  "cache_hits",
  "cached_tokens",
  "reasoning_tokens",
]);

function columnsOf([first = {}]: readonly JsonObject[]) {
  const ids = Object.keys(first).filter((name) => !HIDDEN.has(name) && !AMOUNTS.includes(name));
  return Object.fromEntries(
    [...ids, ...AMOUNTS].map((name) => [
      name.toUpperCase().replaceAll("_", " "),
      (row: JsonObject) => row[name] ?? (ids.includes(name) ? "(none)" : null),
    ]),
  );
}
