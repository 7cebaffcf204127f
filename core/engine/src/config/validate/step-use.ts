/** What steps say beside their own options, checked and resolved. */

import { offsetMs } from "@sluice/runtime";
import { parseDuration } from "@sluice/kit";
import { parseCron } from "../cron.ts";
import type { Fault } from "./explain.ts";
import { formatPath } from "../files/path.ts";
import type { Path } from "../files/document.ts";
import type { ActiveSection, OneOrMore, StepUseSection, WhenSection } from "../schema/step-use.ts";
import type { PipelineSettings, StepCondition, StepSchedule, StepUse } from "../snapshot.ts";
import { TIME_FORMS, timeOf } from "../time-of.ts";

/** What a schema cannot say of a step's `active:`. `path` is the step's. */
export function activeFaults(path: Path, active: ActiveSection): Fault[] {
  const faults: Fault[] = [];
  const fault = (key: keyof ActiveSection, what: string, fix: string): void => {
    const at = [...path, "active", key];
    faults.push({ path: at, on: "value", message: `\`${formatPath(at)}\` ${what}`, fix });
  };
  const { from, until, cron, tz } = active;
  const zone = tz === undefined || isZone(tz) ? (tz ?? "UTC") : "UTC";
  if (zone !== (tz ?? "UTC"))
    fault(
      "tz",
      `is "${tz}", which is not a time zone`,
      "write an IANA name, such as Europe/Berlin",
    );
  const fromMs = from === undefined ? undefined : timeOf(from, zone);
  const untilMs = until === undefined ? undefined : timeOf(until, zone);
  if (from !== undefined && fromMs === undefined)
    fault("from", `is "${from}", which is no time`, TIME_FORMS);
  if (until !== undefined && untilMs === undefined)
    fault("until", `is "${until}", which is no time`, TIME_FORMS);
  if (fromMs !== undefined && untilMs !== undefined && fromMs >= untilMs) {
    fault("until", "is not after `from`: the step would never run", "write a later time");
  }
  if (cron !== undefined) {
    try {
      parseCron(cron);
    } catch (error) {
      const said = error instanceof Error ? error.message : "it cannot be read";
      fault(
        "cron",
        `is no cron expression: ${said}`,
        "write minute, hour, day, month and weekday: `* 22-23,0-5 * * *`",
      );
    }
  }
  return faults;
}

/**
 * The settings of a checked section. Only what is there: a step that says nothing has no member for
 * it.
 */
export function stepUseOf(section: StepUseSection): StepUse {
  const { when, mode, on_error: onError, timeout, active } = section;
  return {
    ...(when === undefined ? {} : { when: conditionOf(when) }),
    ...(mode === "shadow" ? { isShadow: true } : {}),
    ...(onError === "skip" ? { maySkip: true } : {}),
    ...(timeout === undefined ? {} : { timeoutMs: parseDuration(timeout) ?? 0 }),
    ...(active === undefined ? {} : { active: { ...active } }),
  };
}

/** A schedule with its times; a zone that it does not name is the gateway's. */
export function scheduleOf(active: StepSchedule, timeZone: string) {
  const { from, until, cron, tz = timeZone } = active;
  return {
    fromMs: from === undefined ? -Infinity : (timeOf(from, tz) ?? -Infinity),
    untilMs: until === undefined ? Infinity : (timeOf(until, tz) ?? Infinity),
    cron: cron === undefined ? undefined : parseCron(cron),
    timeZone: tz,
  };
}

/** A line for each step whose time is over: it never runs again. */
export function expiredNotices(
  pipelines: readonly PipelineSettings[],
  timeZone: string,
  nowMs: number,
): string[] {
  return pipelines.flatMap(({ steps }) =>
    steps
      .filter(({ active }) => active !== undefined && scheduleOf(active, timeZone).untilMs <= nowMs)
      .map(
        ({ use, at, active }) =>
          `step ${use} at ${at.file}:${at.line} is never active again: it was until ${active?.until}`,
      ),
  );
}

function conditionOf(when: WhenSection): StepCondition {
  const { header, stream, ...patterns } = when;
  const lists = Object.entries(patterns).map(([name, said]) => [name, listOf(said)] as const);
  return {
    ...Object.fromEntries(lists),
    ...(stream === undefined ? {} : { stream }),
    ...(header === undefined
      ? {}
      : {
          header: Object.fromEntries(
            Object.entries(header).map(([name, said]) => [name.toLowerCase(), listOf(said)]),
          ),
        }),
  };
}

function listOf(said: OneOrMore): readonly string[] {
  return typeof said === "string" ? [said] : said;
}

function isZone(name: string): boolean {
  try {
    offsetMs(0, name);
    return true;
  } catch {
    return false;
  }
}
