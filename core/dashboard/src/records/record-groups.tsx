/** The fields of a form in their groups. Few records need the last group: it is folded. */

import type { Draft, DraftValue, FieldSpec } from "./field-spec.ts";
import { RecordField } from "./record-field.tsx";

const FOLDED = "More";

/** The groups. */
export function RecordGroups(props: {
  readonly specs: readonly FieldSpec[];
  readonly draft: Draft;
  readonly faults: Readonly<Record<string, string>>;
  readonly onInput: (name: string, value: DraftValue) => void;
}) {
  const { specs, draft, faults, onInput } = props;
  const names = [...new Set(specs.map(({ group }) => group))];
  const [first] = specs;
  const inGroup = (name: string): readonly FieldSpec[] =>
    specs.filter(({ group }) => group === name);
  const fieldsOf = (name: string) =>
    inGroup(name).map((spec) => (
      <RecordField
        key={spec.name}
        spec={spec}
        value={draft[spec.name]}
        fault={faults[spec.name]}
        isFirst={spec === first}
        onInput={(value) => onInput(spec.name, value)}
      />
    ));
  const isFaulty = inGroup(FOLDED).some(({ name }) => name in faults);
  return (
    <>
      {names
        .filter((name) => name !== FOLDED)
        .map((name) => (
          <fieldset key={name}>
            <legend class={inGroup(name).length > 1 ? "" : "unseen"}>{name}</legend>
            <div class={name === "Limits" ? "grid-3" : "grid-2"}>{fieldsOf(name)}</div>
          </fieldset>
        ))}
      {names.includes(FOLDED) && (
        <details {...(isFaulty && { open: true })}>
          <summary>More fields</summary>
          <div class="stack">{fieldsOf(FOLDED)}</div>
        </details>
      )}
    </>
  );
}
