/** `sluice diff`: what an edit means, in effects and not in lines. */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { JsonObject } from "@sluice/contract";
import type { CheckedConfig } from "@sluice/engine/check";
import { formatEffect, RISKS, summaryOf } from "@sluice/engine/effects";
import { adminClient, type AdminOptions } from "../admin-client.ts";
import { CommandError, EXIT } from "../exit.ts";
import type { NamedTexts } from "../print/lines.ts";
import { type PrintedReplay, printReplay } from "../print/replay.ts";

type Options = AdminOptions & {
  readonly json?: boolean;
  readonly replay?: boolean;
  readonly lines?: boolean;
  readonly failOn?: "danger" | "caution";
};

/** A side that the gateway knows, or a path. */
type Named = Side | { readonly path: string };
type Side = "running" | "files" | number;

interface FilesAnswer {
  readonly files: NamedTexts;
}

interface Answer {
  readonly risk: string;
  readonly danger: number;
  readonly caution: number;
  readonly safe: number;
  readonly effects: readonly {
    readonly risk: string;
    readonly text: string;
    readonly file?: string | null;
    readonly line?: number | null;
  }[];
  readonly replay?: PrintedReplay;
}

/** Adds the command. `command` makes one with the options that say where the gateway is. */
export function addDiffCommand(command: (name: string, description: string) => Command): void {
  command(
    "diff",
    "what an edit means: routes, keys, models and limits that gain or lose, with a grade of risk",
  )
    .argument(
      "[from]",
      "running, files, the number of a generation, or a folder with a configuration",
      sideOf,
      "running",
    )
    .argument("[to]", "the same", sideOf, "files")
    .option("--lines", "the lines that differ, file by file, before the effects")
    .option(
      "--replay",
      "evaluate it on the newest requests of the ledger: which are refused, which are served elsewhere",
    )
    .addOption(
      new Option("--fail-on <risk>", "end with 1 when an effect is of this grade or worse").choices(
        ["danger", "caution"],
      ),
    )
    .action(async (from: Named, to: Named, options: Options) => {
      const isLocal = typeof from === "object" || typeof to === "object";
      if (options.lines === true && isLocal)
        throw usage(
          "Use diff -ru for the lines of two folders; --lines compares running, files or generations.",
        );
      // Contents with findings have no effects, and still have lines.
      if (options.lines === true && options.json !== true)
        process.stdout.write(await linesBetween(from as Side, to as Side, options));
      const answer = isLocal
        ? await compareHere(from, to, options)
        : await compareThere(from, to, options);
      if (options.json === true) {
        const lines =
          options.lines === true
            ? { lines: await linesBetween(from as Side, to as Side, options) }
            : {};
        console.log(JSON.stringify({ ...answer, ...lines }, null, 2));
      } else printAnswer(answer);
      const limit = RISKS.findIndex((risk) => risk === options.failOn);
      const worst = RISKS.findIndex((risk) => risk === answer.risk);
      if (answer.effects.length > 0 && worst <= limit) process.exitCode = EXIT.findings;
    });
}

/** The line diff between two sides that the gateway knows. */
export async function linesBetween(from: Side, to: Side, options: AdminOptions): Promise<string> {
  const ask = adminClient(options);
  const [before, after] = (await Promise.all(
    [from, to].map((side) => ask(`/config/files?of=${side}`)),
  )) as unknown as readonly [FilesAnswer, FilesAnswer];
  const { lineDiff } = await import("../print/lines.ts");
  return lineDiff(before.files, after.files);
}

async function compareThere(from: Named, to: Named, options: Options): Promise<Answer> {
  const body = { from, to, replay: options.replay === true } as unknown as JsonObject;
  return (await adminClient(options)("/config/diff", body)) as Answer;
}

/**
 * Compares two places on this machine. Throws a CommandError for what is no such place, or has
 * findings.
 */
async function compareHere(from: Named, to: Named, { config, replay }: Options): Promise<Answer> {
  if (replay === true)
    throw usage(
      "A replay needs the traffic of a running gateway: compare running, files or generations.",
    );
  const [before, after] = [await readPlace(from, config), await readPlace(to, config)];
  const { effectsOf } = await import("@sluice/engine/check");
  const effects = effectsOf(before.snapshot, after.snapshot, after.definitions.steps).map(
    (effect) => ({
      risk: effect.risk,
      about: effect.about,
      message: effect.message,
      file: effect.at?.file ?? null,
      line: effect.at?.line ?? null,
      text: formatEffect(effect),
    }),
  );
  return { ...summaryOf(effects), effects };
}

async function readPlace(side: Named, config: string) {
  if (side === "running" || typeof side === "number") {
    throw usage(
      "A folder is compared with `files` or with another folder; what runs and what ran is compared with `files`.",
    );
  }
  const path = side === "files" ? config : gatewayFileIn(side.path);
  const [{ checkConfig }, { formatFinding }] = await Promise.all([
    import("@sluice/engine/check"),
    import("@sluice/engine/config"),
  ]);
  const { snapshot, definitions, findings }: CheckedConfig = await checkConfig({
    path,
    cwd: process.cwd(),
    environment: process.env,
  });
  if (snapshot !== undefined) return { snapshot, definitions };
  throw new CommandError(
    EXIT.findings,
    [`${path} has findings:`, ...findings.map(formatFinding)].join("\n"),
  );
}

function gatewayFileIn(path: string): string {
  const names = [path, join(path, "config/gateway.yaml"), join(path, "gateway.yaml")].filter(
    (name) => /\.ya?ml$/.test(name),
  );
  const found = names.find((name) => existsSync(resolve(name)));
  if (found === undefined) throw usage(`${path} holds no config/gateway.yaml and no gateway.yaml.`);
  return found;
}

function printAnswer({ effects, danger, caution, safe, replay }: Answer): void {
  for (const { text, file, line } of effects)
    console.log(typeof file === "string" ? `${text}  (${file}:${line})` : text);
  if (effects.length === 0) console.log("no effect");
  else console.log(`${effects.length} effects: ${danger} danger, ${caution} caution, ${safe} safe`);
  if (replay !== undefined) printReplay(replay);
}

function sideOf(text: string): Named {
  if (text === "running" || text === "files") return text;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  if (existsSync(text)) return { path: text };
  throw new InvalidArgumentError(
    "It must be running, files, the number of a generation, or a folder that exists.",
  );
}

function usage(message: string): CommandError {
  return new CommandError(EXIT.usage, message);
}
