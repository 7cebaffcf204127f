/**
 * The messages between the gateway's thread and the threads of an isolated guardrail. Plain data,
 * which is cloned.
 */

import { Secret, type RequestFacts, type TextContext, type Verdict } from "@sluice/contract";

/** The parts of a thread. */
export interface ThreadData {
  /** The module of the plugin. */
  readonly url: string;
  /** The name of the definition in it. */
  readonly definition: string;
  readonly options: PackedOptions;
  readonly generation: number;
}

/** Options with their secrets marked: a clone of a Secret would be an empty object. */
export interface PackedOptions {
  readonly plain: unknown;
  readonly secrets: readonly {
    readonly path: readonly string[];
    readonly name: string;
    readonly value: string;
  }[];
}

/**
 * The state of a job in one number, which both sides change by compare-and-exchange: `WAITING`,
 * `CANCELLED`, or the time at which a thread began with it, in milliseconds since 1970.
 */
export type JobState = BigInt64Array<SharedArrayBuffer>;

export const WAITING = 0n;
export const CANCELLED = -1n;

/** A job. */
export type ThreadJob =
  | { readonly kind: "describe" }
  | {
      readonly kind: "check";
      readonly text: string;
      readonly context: TextContext;
      readonly budgetMs: number;
      readonly begun: JobState;
    }
  | {
      readonly kind: "admit";
      readonly request: RequestFacts;
      readonly budgetMs: number;
      readonly begun: JobState;
    };

/** A line that the guardrail logged. */
export interface ThreadLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/**
 * A thread's answer. An error's message may quote the text, so only its name and its stack
 * positions are sent.
 */
export type ThreadAnswer = { readonly lines: readonly ThreadLine[] } & (
  | {
      readonly kind: "made";
      readonly reach: number;
      readonly asksAgain: boolean;
      readonly admits: boolean;
    }
  | { readonly kind: "unfit"; readonly what: string }
  | { readonly kind: "verdict"; readonly verdict: Verdict }
  | { readonly kind: "threw"; readonly name: string; readonly places: readonly string[] }
);

/** Options as they can be cloned. */
export function packOptions(options: Readonly<Record<string, unknown>>): PackedOptions {
  const secrets: { path: readonly string[]; name: string; value: string }[] = [];
  const pack = (value: unknown, path: readonly string[]): unknown => {
    if (value instanceof Secret) {
      secrets.push({ path, name: value.name, value: value.reveal() });
      return null;
    }
    if (Array.isArray(value))
      return value.map((item, index) => pack(item, [...path, String(index)]));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, pack(member, [...path, key])]),
    );
  };
  return { plain: pack(options, []), secrets };
}

/** The options again. */
export function unpackOptions({
  plain,
  secrets,
}: PackedOptions): Readonly<Record<string, unknown>> {
  for (const { path, name, value } of secrets) {
    let holder = plain as Record<string, unknown>;
    for (const key of path.slice(0, -1)) holder = holder[key] as Record<string, unknown>;
    const last = path.at(-1);
    if (last !== undefined) holder[last] = new Secret(name, value);
  }
  return plain as Readonly<Record<string, unknown>>;
}
