/** Three ways of a field that two people changed: before, theirs, yours. */

import { Button } from "../parts/button.tsx";
import { Notice } from "../parts/marks.tsx";
import { type Draft, type DraftValue, type FieldSpec, isSame } from "./field-spec.ts";

/** A field that was changed here and elsewhere, to different values. */
export interface Clash {
  readonly spec: FieldSpec;
  readonly before: DraftValue;
  readonly theirs: DraftValue;
  readonly yours: DraftValue;
}

/** Fields that both changed. `before`: when the form was opened; `now`: what the gateway has. */
export function clashesOf(
  specs: readonly FieldSpec[],
  before: Draft,
  typed: Draft,
  now: Draft,
): readonly Clash[] {
  return specs.flatMap((spec) => {
    const [was, yours, theirs] = [before, typed, now].map((draft) => draft[spec.name] ?? "");
    if (was === undefined || yours === undefined || theirs === undefined) return [];
    const isClash = !isSame(yours, was) && !isSame(theirs, was) && !isSame(yours, theirs);
    return isClash ? [{ spec, before: was, theirs, yours }] : [];
  });
}

/** The clashes, each with both ways out. */
export function Clashes(props: {
  readonly clashes: readonly Clash[];
  readonly onTake: (clash: Clash) => void;
  readonly onKeep: (clash: Clash) => void;
}) {
  const { clashes, onTake, onKeep } = props;
  return (
    <Notice tone="warn" isLoud>
      <p>Another administrator changed the same fields meanwhile. Choose for each of them.</p>
      {clashes.map((clash) => (
        <section key={clash.spec.name} aria-label={clash.spec.label} class="clash">
          <h3>{clash.spec.label}</h3>
          <dl class="facts">
            <dt>Before</dt>
            <dd>{shown(clash.before)}</dd>
            <dt>Theirs</dt>
            <dd>{shown(clash.theirs)}</dd>
            <dt>Yours</dt>
            <dd>{shown(clash.yours)}</dd>
          </dl>
          <div class="row">
            <Button onClick={() => onTake(clash)}>Take theirs</Button>
            <Button onClick={() => onKeep(clash)}>Keep yours</Button>
          </div>
        </section>
      ))}
    </Notice>
  );
}

function shown(value: DraftValue): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  const text = typeof value === "string" ? value : value.join(", ");
  return text === "" ? "empty" : text;
}
