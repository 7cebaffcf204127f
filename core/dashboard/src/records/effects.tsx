/** Effects of an edit, the worst first. */

import type { Effect, Impact, Risk } from "../api/config.ts";
import { money } from "../parts/format.ts";
import { Mark, type Tone } from "../parts/marks.tsx";
import { Place } from "./place.tsx";

const TONES: Readonly<Record<Risk, Tone>> = { danger: "bad", caution: "warn", safe: "good" };

/** The risk of an edit in a word. */
export function RiskMark({ risk }: { readonly risk: Risk }) {
  return <Mark tone={TONES[risk]}>{risk}</Mark>;
}

/** An effect; the history does not keep its line. */
type ShownEffect = Omit<Effect, "file" | "line"> & Partial<Pick<Effect, "file" | "line">>;

/** The list. */
export function Effects({ effects }: { readonly effects: readonly ShownEffect[] }) {
  if (effects.length === 0)
    return <p class="muted">Nothing changes for a client, a key or an upstream.</p>;
  return (
    <ul class="effects">
      {effects.map((effect) => (
        <li key={`${effect.about} ${effect.message}`}>
          <RiskMark risk={effect.risk} />
          <span>
            <strong>{effect.about}</strong>: {effect.message}
          </span>
          {effect.file != null && <Place file={effect.file} line={effect.line ?? null} />}
        </li>
      ))}
    </ul>
  );
}

/** Effects with what the last requests would have cost. */
export function ImpactView({ impact }: { readonly impact: Impact }) {
  const { replay } = impact;
  return (
    <div class="stack-s">
      <Effects effects={impact.effects} />
      {replay !== undefined && replay.evaluated > 0 && (
        <p class="muted">
          The last {replay.evaluated} requests again: they cost {money(replay.spend.did_cost)}, and
          would cost {money(replay.spend.would_cost.least)}
          {replay.spend.would_cost.most !== replay.spend.would_cost.least &&
            ` to ${money(replay.spend.would_cost.most)}`}
          .
        </p>
      )}
    </div>
  );
}
