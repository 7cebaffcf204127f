/**
 * The option `commit_after` of the step `provider`: how long a stream is held back after its first
 * content.
 */

import { parseDuration } from "@sluice/kit";
import { parseSize } from "@sluice/runtime";
import { type CommitAfter, MAX_HELD_BYTES } from "@sluice/runtime/transport";
import type { ConfigFault, JsonSchema } from "@sluice/contract";

/** The option as YAML has it. */
export interface CommitAfterConfig {
  readonly tokens?: number;
  readonly ms?: string;
  readonly bytes?: string;
}

/** The option's schema. */
export const commitAfterSchema: JsonSchema = {
  type: "object",
  additionalProperties: false,
  minProperties: 1,
  description:
    "Holds a stream back beyond its first content, so that a failure soon after it can still be retried or sent elsewhere. What is reached first lets it go: `tokens`, `ms`, `bytes`, its end, or 256kb. Default: with the first content.",
  properties: {
    tokens: {
      type: "integer",
      minimum: 1,
      maximum: 100_000,
      description:
        "Tokens of content, such as 20, estimated: one for every whole four bytes of an event's text, at least one for an event with text.",
    },
    ms: {
      type: "string",
      format: "duration",
      description: "Time since the first content, such as 300ms.",
    },
    bytes: {
      type: "string",
      format: "size",
      description: "Bytes of the events that are held, such as 4kb; at most 256kb.",
    },
  },
};

/** Checks that the schema cannot express. */
export function checkCommitAfter(config: CommitAfterConfig | undefined): readonly ConfigFault[] {
  if (config?.bytes === undefined || (parseSize(config.bytes) ?? 0) <= MAX_HELD_BYTES) return [];
  const path = ["commit_after", "bytes"];
  return [
    {
      path,
      message: `\`${config.bytes}\` is more than a stream may hold back`,
      fix: "write at most 256kb",
    },
  ];
}

/** The option in numbers. */
export function commitAfterOf(config: CommitAfterConfig | undefined): CommitAfter | undefined {
  if (config === undefined) return undefined;
  const ms = config.ms === undefined ? undefined : parseDuration(config.ms);
  const bytes = config.bytes === undefined ? undefined : parseSize(config.bytes);
  return {
    ...(config.tokens !== undefined && { tokens: config.tokens }),
    ...(ms !== undefined && { ms }),
    ...(bytes !== undefined && { bytes }),
  };
}
