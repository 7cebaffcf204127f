/** Options of the commands that may begin a canary. */

import type { JsonObject } from "@sluice/contract";
import { type Command, InvalidArgumentError } from "commander";
import { CommandError, EXIT } from "../exit.ts";

/** What a canary is asked with. */
export interface CanaryOptions {
  readonly canary?: string;
  readonly for?: string;
  readonly abortIf?: string;
  readonly minRequests?: number;
}

/** Adds the options. */
export function withCanary(command: Command): Command {
  return command
    .option(
      "--canary <share>",
      "begin with a share of the keys, such as 5%; then all of them, or none",
    )
    .option("--for <duration>", "how long the canary runs; default 10m")
    .option(
      "--abort-if <condition>",
      "when it is returned before; default error_rate>5%; also p99>20s, and `or`",
    )
    .option(
      "--min-requests <count>",
      "by how many requests it is judged at least; default 20",
      countOf,
    );
}

/** The canary of a request, as the admin listener takes it. */
export function canaryOf({
  canary: share,
  for: time,
  abortIf,
  minRequests,
}: CanaryOptions): JsonObject {
  const more = {
    ...(time !== undefined && { for: time }),
    ...(abortIf !== undefined && { abort_if: abortIf }),
    ...(minRequests !== undefined && { min_requests: minRequests }),
  };
  if (share !== undefined) return { canary: { share, ...more } };
  if (Object.keys(more).length === 0) return {};
  throw new CommandError(
    EXIT.usage,
    "--for, --abort-if and --min-requests belong to --canary: say its share, such as --canary 5%.",
  );
}

function countOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}
