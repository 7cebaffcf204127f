/** The steps of a request, outermost first, with what each decided. */

import type { TraceStep } from "../../api/requests.ts";
import { duration } from "../../parts/format.ts";
import { Mark, type Tone } from "../../parts/marks.tsx";
import { PlaceText } from "../../records/place.tsx";
import { conditionText } from "./condition-text.ts";

const TONES: Readonly<Record<TraceStep["outcome"], Tone>> = {
  passed: "plain",
  answered: "good",
  failed: "bad",
  "not reached": "plain",
};

/** The list. Its time is each step's own, without the steps inside of it. */
export function Steps({ steps }: { readonly steps: readonly TraceStep[] }) {
  const longest = Math.max(...steps.map(({ ms }) => ms ?? 0), 0.001);
  return (
    <ol class="steps">
      {steps.map((step) => (
        <Step key={`${step.at} ${step.step}`} step={step} longest={longest} />
      ))}
    </ol>
  );
}

function Step({ step, longest }: { readonly step: TraceStep; readonly longest: number }) {
  const { outcome, ms, runs, decisions, when, error } = step;
  return (
    <li class={outcome === "not reached" ? "unreached" : undefined}>
      <div class="line">
        <span class="row">
          <strong>{step.step}</strong>
          {outcome !== "passed" && <Mark tone={TONES[outcome]}>{outcome}</Mark>}
          {runs > 1 && <Mark>{runs} runs</Mark>}
          {error !== null && <span class="muted">{error}</span>}
        </span>
        <PlaceText at={step.at} />
        <span class="own num" title="Its own time, without the steps inside of it">
          {duration(ms)}
        </span>
        <span class="own-bar" aria-hidden="true">
          <span style={{ width: `${((ms ?? 0) / longest) * 100}%` }} />
        </span>
      </div>
      {when !== null && (
        <p class="muted small">
          when <code>{conditionText(when)}</code>
        </p>
      )}
      {decisions.map((decision) => (
        <p key={decision} class="decision">
          {decision}
        </p>
      ))}
    </li>
  );
}
