/** `sluice push` and `sluice pull`: the configuration in the store of a fleet. */

import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { JsonObject } from "@sluice/contract";
import type { Command } from "commander";
import { adminClient, type AdminOptions } from "../admin-client.ts";
import { type CanaryOptions, canaryOf } from "./canary-options.ts";
import { numberOf } from "../commands/history.ts";
import { CommandError, EXIT } from "../exit.ts";
import { type FleetAttempt, type FleetOptions, rollOut } from "./commands.ts";
import { readFilesToPush } from "./read-files.ts";

type Options = AdminOptions & { readonly json?: boolean };

type PushOptions = FleetOptions &
  CanaryOptions & {
    readonly force?: string;
    readonly author?: string;
    readonly base?: number;
    readonly dryRun?: boolean;
  };

type PushAttempt = FleetAttempt & {
  readonly effects: readonly { readonly text: string }[];
};

/** Adds the options and the action of `sluice push`. */
export function addPush(push: Command): void {
  push
    .argument(
      "<files>",
      "the gateway file to push, or its folder; its pipelines and prices go with it",
    )
    .option("--base <generation>", "the generation that the files were made from", numberOf)
    .option("--dry-run", "check, test and show what would change; begins nothing")
    .action(async (target: string, options: PushOptions) => {
      const { files, base, baseFile } = readFilesToPush(target);
      const { force, author, dryRun = false } = options;
      const from = options.base ?? base;
      const body: JsonObject = {
        files,
        ...(from !== undefined && { base: from }),
        ...(force !== undefined && { force }),
        ...(author !== undefined && { author }),
        ...canaryOf(options),
        ...(dryRun && { dry_run: true }),
      };
      const attempt = await rollOut<PushAttempt>(options, "/fleet/push", body, ({ effects }) =>
        effects.map(({ text }) => text),
      );
      // The folder is what was pushed from here on.
      if (attempt.rollout !== null && existsSync(baseFile))
        writeFileSync(baseFile, `${attempt.rollout}\n`);
    });
}

/** Adds the options and the action of `sluice pull`. */
export function addPull(pull: Command): void {
  pull
    .argument("[generation]", "its number; without one that which serves", numberOf)
    .requiredOption("--out <folder>", "where to write the files; a folder that is empty or missing")
    .action(async (generation: number | undefined, options: Options & { readonly out: string }) => {
      const { out, json = false } = options;
      if (existsSync(out) && readdirSync(out).length > 0)
        throw new CommandError(EXIT.usage, `${out} is not empty: name another folder with --out.`);
      const query = generation === undefined ? "" : `?of=${generation}`;
      const answer = (await adminClient(options)(`/fleet/files${query}`)) as {
        readonly generation: number;
        readonly files: Readonly<Record<string, string>>;
      };
      // A name may begin with `../`: the gateway file is in a folder then.
      const isBelow = Object.keys(answer.files).some((name) => name.startsWith("../"));
      const home = isBelow ? join(out, "config") : out;
      for (const [name, text] of Object.entries(answer.files)) {
        const path = join(home, name);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, text);
      }
      writeFileSync(join(home, ".sluice-base"), `${answer.generation}\n`);
      if (json) console.log(JSON.stringify(answer, null, 2));
      else
        console.log(
          `${Object.keys(answer.files).length} files of generation ${answer.generation} are in ${home}`,
        );
    });
}
