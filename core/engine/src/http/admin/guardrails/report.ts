/** Makes the report of guardrails from the sums of days and the live configuration. */

import type { GuardrailDay } from "@sluice/contract";
import type { Generation } from "../../../generation/generation.ts";

const VERDICTS = ["block", "edit", "error", "ask_again"] as const;
type Verdict = (typeof VERDICTS)[number];

interface Line {
  readonly guardrail: string;
  readonly direction: string;
  readonly mode: string;
  readonly requests: Record<Verdict, number>;
}

interface Route {
  readonly route: string;
  requests: number;
  readonly lines: Map<string, Line>;
}

/** The report of some days. */
export function reportOf(
  sums: readonly GuardrailDay[],
  dates: readonly string[],
  live: Generation | undefined,
) {
  const routes = routesOf(sums);
  return {
    from: dates[0] ?? "",
    to: dates.at(-1) ?? "",
    routes: routes.map(({ route, requests, lines }) => ({
      route,
      requests,
      guardrails: [...lines.values()],
    })),
    days: daysOf(sums, dates),
    guardrails: (live?.snapshot.guardrails ?? []).map(({ name, use, settings, at }) => ({
      guardrail: name,
      use,
      mode: settings.mode,
      declared_in: `${at.file}:${at.line}`,
      word: settings.mode === "shadow" ? "mode: shadow" : null,
    })),
    steps: (live?.shadows ?? []).map(({ pipeline, step, at, counts }) => ({
      pipeline,
      step,
      declared_in: `${at.file}:${at.line}`,
      word: "mode: shadow",
      ...counts,
    })),
  };
}

function routesOf(sums: readonly GuardrailDay[]): readonly Route[] {
  const routes = new Map<string, Route>();
  for (const { route: name, guardrail, direction, verdict, mode, requests } of sums) {
    let route = routes.get(name);
    if (route === undefined)
      routes.set(name, (route = { route: name, requests: 0, lines: new Map() }));
    if (guardrail === "") {
      route.requests += requests;
      continue;
    }
    const key = `${guardrail} ${direction} ${mode}`;
    let line = route.lines.get(key);
    if (line === undefined) {
      line = { guardrail, direction, mode, requests: noRequests() };
      route.lines.set(key, line);
    }
    if (isVerdict(verdict)) line.requests[verdict] += requests;
  }
  return [...routes.values()];
}

function noRequests(): Record<Verdict, number> {
  return { block: 0, edit: 0, error: 0, ask_again: 0 };
}

function isVerdict(text: string): text is Verdict {
  return VERDICTS.some((verdict) => verdict === text);
}

function daysOf(sums: readonly GuardrailDay[], dates: readonly string[]) {
  const days = new Map(
    dates.map((date) => [
      date,
      { date, requests: 0, blocked: 0, edited: 0, would_have_blocked: 0, would_have_edited: 0 },
    ]),
  );
  for (const { date, guardrail, verdict, mode, requests } of sums) {
    const day = days.get(date);
    if (day === undefined) continue;
    const isEnforced = mode === "enforce";
    if (guardrail === "") day.requests += requests;
    else if (verdict === "block" || verdict === "ask_again")
      day[isEnforced ? "blocked" : "would_have_blocked"] += requests;
    else if (verdict === "edit") day[isEnforced ? "edited" : "would_have_edited"] += requests;
  }
  return [...days.values()];
}
