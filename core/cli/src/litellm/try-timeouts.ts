/** Timeouts of one try, of the whole file and of an entry, as `timeouts` of a provider. */

import { type ImportSource, type Members, membersOf, numberOf, type SourcePath } from "./source.ts";

const WHY =
  "it bounds one try, to its first byte and to the first content of a stream: `timeouts` of the providers. A stream that has begun is not cut by it";

/** What the settings say for every entry. Notes each. */
export function defaultTimeouts(source: ImportSource): Members {
  const litellm = membersOf(source.value["litellm_settings"]);
  const router = membersOf(source.value["router_settings"]);
  const given = (member: string, value: unknown, path: SourcePath): Members => {
    const seconds = numberOf(value);
    if (seconds === undefined || seconds <= 0) return {};
    source.note("changed", path, WHY);
    return { [member]: seconds };
  };
  return {
    ...given("timeout", router["timeout"], ["router_settings", "timeout"]),
    ...given("timeout", litellm["request_timeout"], ["litellm_settings", "request_timeout"]),
    ...given("stream_timeout", router["stream_timeout"], ["router_settings", "stream_timeout"]),
  };
}

/** The options of a provider that an entry's parameters, or else the defaults, come to. */
export function timeoutsOf(params: Members, defaults: Members): Members {
  const timeout = positive(params["timeout"]) ?? positive(defaults["timeout"]);
  const content =
    positive(params["stream_timeout"]) ??
    positive(params["timeout"]) ??
    positive(defaults["stream_timeout"]) ??
    timeout;
  if (content === undefined) return {};
  const firstByte = timeout === undefined ? {} : { first_byte: duration(timeout) };
  return { timeouts: { ...firstByte, first_content: duration(content) } };
}

function positive(value: unknown): number | undefined {
  const seconds = numberOf(value);
  return seconds !== undefined && seconds > 0 ? seconds : undefined;
}

function duration(seconds: number): string {
  return Number.isInteger(seconds) ? `${seconds}s` : `${Math.ceil(seconds * 1_000)}ms`;
}
