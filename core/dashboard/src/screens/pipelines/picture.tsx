/** Steps as nested bands: the outermost begins first and ends last. */

import type { PipelineStep } from "../../api/config.ts";
import { count, duration } from "../../parts/format.ts";
import { Mark } from "../../parts/marks.tsx";
import { Place } from "../../records/place.tsx";

/** The picture. */
export function Picture({ steps }: { readonly steps: readonly PipelineStep[] }) {
  return (
    <div class="stack-s">
      {steps.every(({ figures }) => figures.requests === 0) && (
        <p class="muted">No request is kept yet: times and refusals appear with the traffic.</p>
      )}
      <div class="bands" role="group" aria-label="Steps, outermost first">
        <Bands steps={steps} />
      </div>
    </div>
  );
}

function Bands({ steps }: { readonly steps: readonly PipelineStep[] }) {
  const [step, ...inner] = steps;
  if (step === undefined) return null;
  return (
    <ol>
      <li class={step.mode === "shadow" ? "band shadow" : "band"}>
        <Band step={step} />
        <Bands steps={inner} />
      </li>
    </ol>
  );
}

function Band({ step }: { readonly step: PipelineStep }) {
  const { about, file, line, options, when, active, shadow } = step;
  return (
    <div class="band-head">
      <div class="band-name">
        <strong title={about ?? undefined}>{step.step}</strong>
        <Place file={file} line={line} />
        {when !== null && <Mark tone="accent">when {textOf(when)}</Mark>}
        {active !== null && <Mark tone="accent">active {textOf(active)}</Mark>}
        {step.on_error === "skip" && <Mark>skipped on failure</Mark>}
        {step.timeout_ms !== null && <Mark>at most {duration(step.timeout_ms)}</Mark>}
        {shadow !== null && (
          <Mark tone="warn" title="It runs beside the request, without effect">
            in shadow: would have refused {count(shadow.refused)} of {count(shadow.runs)}
          </Mark>
        )}
        {options !== null && <code class="options">{textOf(options)}</code>}
      </div>
      <Figures step={step} />
    </div>
  );
}

function Figures({ step }: { readonly step: PipelineStep }) {
  const { requests, p50_ms: p50, refused, failed } = step.figures;
  if (requests === 0) return null;
  return (
    <span class="band-figures small" title={`Of ${requests} requests that are kept`}>
      <span class="num">{duration(p50)}</span>
      {refused > 0 && <Mark tone="warn">{count(refused)} refused</Mark>}
      {failed > 0 && <Mark tone="bad">{count(failed)} failed</Mark>}
    </span>
  );
}

/** Members as one line: `input: [pii], stream: window`. */
function textOf(members: Readonly<Record<string, unknown>>): string {
  return Object.entries(members)
    .map(([name, value]) => `${name}: ${valueText(value)}`)
    .join(", ");
}

function valueText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return `[${value.map((one) => valueText(one)).join(", ")}]`;
  if (typeof value === "object" && value !== null)
    return `{ ${textOf(value as Readonly<Record<string, unknown>>)} }`;
  return String(value);
}
