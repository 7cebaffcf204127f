/** `sluice history`: the generations that ran, who made them, and what each changed. */

import { type Command, InvalidArgumentError } from "commander";
import type { JsonObject } from "@sluice/contract";
import { adminClient, type AdminOptions } from "../admin-client.ts";
import { linesBetween } from "./diff.ts";
import { CommandError, EXIT } from "../exit.ts";
import { printRollouts } from "../fleet/history.ts";
import { shortOf } from "../print/digest.ts";
import { printTable } from "../print/records.ts";

type Options = AdminOptions & {
  readonly json?: boolean;
  readonly lines?: boolean;
  readonly fleet?: boolean;
  readonly since?: string;
  readonly until?: string;
};

/** How a generation came to be. */
export interface Origin {
  readonly generation: number;
  readonly digest: string;
  readonly origin: string | null;
  readonly contents_of: number | null;
  readonly forced: boolean;
  readonly author: Author | null;
  /** The reason of an automatic rollback. */
  readonly reason: string | null;
}

/**
 * Who made a generation: a caller by the name that it gave, a saved file, or a setting of the
 * gateway.
 */
interface Author {
  readonly name: string;
  readonly from: "caller" | "file" | "gateway";
}

type Entry = Origin & {
  readonly at: string;
  readonly is_live: boolean;
  readonly returned: string | null;
  readonly changes: readonly string[];
  readonly effects: readonly { readonly text: string }[];
};

/** Adds the command. `command` makes one with the options that say where the gateway is. */
export function addHistoryCommand(command: (name: string, description: string) => Command): void {
  command(
    "history",
    "the generations that can be rolled back to, newest first; or one of them, and what it changed",
  )
    .argument("[generation]", "the number of one", numberOf)
    .option("--fleet", "rollouts of all instances, and what became of each at every instance")
    .option("--lines", "the lines that differ from the generation before it")
    .option(
      "--since <when>",
      "those of the last 30m, 1h or 7d, or since a time: 2030-01-31T12:00:00Z",
    )
    .option("--until <when>", "those before that")
    .action(async (generation: number | undefined, options: Options) => {
      const { since, until } = options;
      if (options.fleet === true) {
        await printRollouts(options);
        return;
      }
      if (generation !== undefined && (since ?? until) !== undefined)
        throw new CommandError(
          EXIT.usage,
          "--since and --until are of the list: sluice history --since 1h.",
        );
      const query = new URLSearchParams({
        ...(since !== undefined && { since }),
        ...(until !== undefined && { until }),
      });
      const path = `/config/history${query.size === 0 ? "" : `?${query}`}`;
      const history = (await adminClient(options)(path)) as unknown as {
        readonly generations: readonly Entry[];
      };
      if (generation !== undefined) await show(generation, history.generations, options);
      else if (options.lines === true)
        throw new CommandError(
          EXIT.usage,
          "--lines is of one generation: sluice history 3 --lines.",
        );
      else if (options.json === true) console.log(JSON.stringify(history, null, 2));
      else printTable(COLUMNS, history.generations as unknown as readonly JsonObject[]);
    });
}

async function show(
  generation: number,
  entries: readonly Entry[],
  options: Options,
): Promise<void> {
  const place = entries.findIndex((entry) => entry.generation === generation);
  const entry = entries[place];
  if (entry === undefined) {
    const kept = entries.map((one) => one.generation).join(", ") || "none";
    throw new CommandError(
      EXIT.findings,
      `Generation ${generation} is not in the history, which holds ${kept}.`,
    );
  }
  // What a canary left behind when it was returned never ran for all keys.
  const before = entries.slice(place + 1).find(({ returned }) => returned === null);
  const lines =
    options.lines === true && before !== undefined
      ? await linesBetween(before.generation, generation, options)
      : "";
  if (options.json === true) {
    console.log(JSON.stringify(options.lines === true ? { ...entry, lines } : entry, null, 2));
    return;
  }
  const { at, digest, returned, changes, effects, is_live: isLive } = entry;
  const origin = `${String(entry.origin)}${originOf(entry)}${byOf(entry)}`;
  console.log(
    `generation ${generation}, digest ${shortOf(digest)}, at ${at}: ${origin}${isLive ? "; it runs" : ""}`,
  );
  if (returned !== null) console.log(`canary returned: ${returned}`);
  if (entry.reason !== null) console.log(`rolled back by itself: ${entry.reason}`);
  for (const change of changes) console.log(change);
  for (const { text } of effects) console.log(text);
  if (options.lines === true && before === undefined)
    console.log("the history holds no generation before it");
  process.stdout.write(lines);
}

/** What made a generation, behind its number. */
export function originOf({ origin, contents_of: of, forced }: Origin): string {
  if (of === null) return forced ? ", forced" : "";
  return origin === "rollback" ? ` = rollback of ${of}` : ` = contents of ${of}`;
}

/** Who made it, behind that. */
export function byOf({ author }: Pick<Origin, "author">): string {
  if (author === null) return "";
  return author.from === "file" ? " by a saved file" : ` by ${author.name}`;
}

/** The number of a generation. */
export function numberOf(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new InvalidArgumentError(
    "It must be the number of a generation, as `sluice history` lists them.",
  );
}

const COLUMNS: Parameters<typeof printTable>[0] = {
  generation: (row) => `${row["is_live"] === true ? "*" : " "}${String(row["generation"])}`,
  at: (row) => row["at"],
  digest: (row) => shortOf(String(row["digest"])),
  origin: (row) =>
    `${String(row["origin"])}${row["contents_of"] === null ? "" : ` of ${String(row["contents_of"])}`}`,
  by: (row) => (row["author"] as unknown as Author | null)?.name ?? "",
  changes: (row) =>
    typeof row["returned"] === "string"
      ? `canary returned: ${row["returned"]}`
      : (row["reason"] ?? row["changes"]),
};
