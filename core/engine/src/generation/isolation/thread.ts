/**
 * A thread of an isolated guardrail: makes the guardrail once, then judges one text after another.
 */

import { within, parseJson } from "@sluice/kit";
import { workerData } from "node:worker_threads";
import { stackPlaces } from "@sluice/runtime";
import type {
  AnyDefinition,
  Guardrail,
  GuardrailDefinition,
  Host,
  Log,
  Verdict,
} from "@sluice/contract";
import { withPlace } from "../../registry/fault-place.ts";
import { missingPart } from "./missing-part.ts";
import { registerResolveHook } from "../../registry/resolve-hook.ts";
import {
  CANCELLED,
  type ThreadAnswer,
  type ThreadData,
  type ThreadJob,
  type ThreadLine,
  unpackOptions,
  WAITING,
} from "./message.ts";

/** Log lines of one job that are sent to the main thread. Further lines are dropped. */
const MAX_LINES = 20;
/** Maximum time of the guardrail's start. */
const START_TIMEOUT_MS = 8_000;

/** The error of a guardrail that uses a part of the host which threads do not have. */
class HostAccess extends Error {
  readonly member: string;

  constructor(member: string) {
    super(`host.${member} does not exist in a worker.`);
    this.name = "HostAccess";
    this.member = member;
  }
}

let lines: ThreadLine[] = [];
/** Made before the first job: the thread takes none until then. */
const made = await make(workerData as ThreadData);

/** Does one job. */
export default async function work(job: ThreadJob): Promise<ThreadAnswer> {
  // The caller has left in the meantime.
  if (
    job.kind !== "describe" &&
    Atomics.compareExchange(job.begun, 0, WAITING, BigInt(Date.now())) === CANCELLED
  ) {
    return threw(undefined);
  }
  const answer = await answerOf(job);
  const said = lines;
  lines = [];
  return { ...answer, lines: said };
}

async function answerOf(job: ThreadJob): Promise<ThreadAnswer> {
  if ("what" in made)
    return job.kind === "describe" ? { kind: "unfit", what: made.what, lines } : threw(undefined);
  const { guardrail } = made;
  if (job.kind === "describe") {
    const { reach, asksAgain = false } = guardrail;
    return { kind: "made", reach, asksAgain, admits: guardrail.admit !== undefined, lines };
  }
  const controller = new AbortController();
  try {
    const verdict =
      job.kind === "check"
        ? guardrail.check(job.text, controller.signal, Object.freeze(job.context))
        : (guardrail.admit?.(deepFreeze(job.request), controller.signal) ?? { kind: "allow" });
    return {
      kind: "verdict",
      verdict: cloneable(await inTime(verdict, job.budgetMs, controller)),
      lines,
    };
  } catch (error) {
    return threw(error);
  }
}

/** Ends a check that waits. A check that computes is ended with its thread. */
async function inTime(
  verdict: Verdict | Promise<Verdict>,
  budgetMs: number,
  controller: AbortController,
): Promise<Verdict> {
  if (typeof (verdict as { then?: unknown } | null)?.then !== "function") return verdict;
  return within(budgetMs, verdict, () => {
    const error = new DOMException("The judgement took longer than its budget.", "TimeoutError");
    controller.abort(error);
    throw error;
  });
}

/** A verdict that can leave the thread. What it holds besides is not the gateway's business. */
function cloneable(verdict: Verdict): Verdict {
  return verdict?.kind === "allow" ? { kind: "allow" } : structuredClone(verdict);
}

function threw(error: unknown): ThreadAnswer {
  const name = error instanceof Error || error instanceof DOMException ? error.name : "unknown";
  return { kind: "threw", name, places: stackPlaces(error), lines };
}

async function make(
  data: ThreadData,
): Promise<{ readonly guardrail: Guardrail } | { readonly what: string }> {
  registerResolveHook();
  try {
    const module = (await import(data.url)) as { readonly default?: unknown };
    const definitions = [module.default].flat() as (AnyDefinition | undefined)[];
    const definition = definitions.find(
      (one) => one?.kind === "guardrail" && one.name === data.definition,
    );
    if (definition === undefined) return { what: "is not what its module exports in a worker" };
    const guardrail = (definition as GuardrailDefinition<never>).create(
      unpackOptions(data.options) as never,
      hostOf(data),
    );
    const missing = missingPart(guardrail);
    if (missing !== undefined) return { what: missing };
    await guardrail.start?.(AbortSignal.timeout(START_TIMEOUT_MS));
    return { guardrail };
  } catch (error) {
    if (error instanceof HostAccess)
      return { what: `needs \`host.${error.member}\`, which a worker does not have` };
    return { what: `could not be made in a worker: ${withPlace(error)}` };
  }
}

/**
 * A host with a log and a clock. A guardrail that uses another member cannot run in a worker; the
 * access throws.
 */
function hostOf({ generation }: ThreadData): Host {
  const write =
    (level: ThreadLine["level"]) =>
    (message: string, fields?: Readonly<Record<string, unknown>>): void => {
      if (lines.length < MAX_LINES)
        lines.push({ level, message, ...(fields === undefined ? {} : { fields: plain(fields) }) });
    };
  const log: Log = {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
  };
  const clock = { now: () => Date.now(), monotonic: () => performance.now() };
  return new Proxy({ log, clock, generation } as unknown as Host, {
    get(target, member) {
      if (typeof member === "symbol" || member in target)
        return Reflect.get(target, member) as unknown;
      throw new HostAccess(member);
    },
  });
}

/** Fields that can leave the thread. */
function plain(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  try {
    return parseJson(JSON.stringify(fields)) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}
