/** The control of one field of a record. */

import { AreaField, CheckField, Field, SelectField, TextField } from "../parts/field.tsx";
import { Combobox } from "../parts/combobox.tsx";
import type { DraftValue, FieldSpec } from "./field-spec.ts";

interface RecordFieldProps {
  readonly spec: FieldSpec;
  readonly value: DraftValue | undefined;
  readonly fault: string | undefined;
  readonly isFirst: boolean;
  readonly onInput: (value: DraftValue) => void;
}

/** The control. */
export function RecordField(props: RecordFieldProps) {
  const { spec, value, fault, isFirst, onInput } = props;
  const { label, hint } = spec;
  const text = typeof value === "string" ? value : "";
  const frame = { label, fault, ...(hint !== undefined && { hint }) };
  const line = { ...frame, value: text, onInput };
  switch (spec.kind) {
    case "flag":
      return (
        <CheckField
          label={label}
          {...(hint !== undefined && { hint })}
          checked={value === true}
          onInput={onInput}
        />
      );
    case "names":
    case "ref":
      return <NamesField {...props} />;
    case "choice": {
      const isKnown = spec.choices.some(([one]) => one === text);
      const choices = isKnown ? spec.choices : [...spec.choices, [text, text] as const];
      return <SelectField {...line} choices={choices} />;
    }
    case "json":
      return <AreaField {...line} rows={3} />;
    case "time":
      return <TextField {...line} type="datetime-local" name={spec.name} />;
    case "money":
      return <TextField {...line} inputMode="decimal" before="$" />;
    case "count":
      return <TextField {...line} inputMode="numeric" />;
    case "text":
      return <TextField {...line} isFirst={isFirst} />;
  }
}

function NamesField({ spec, value, fault, onInput }: RecordFieldProps) {
  if (spec.kind !== "names" && spec.kind !== "ref") return null;
  const { label, hint } = spec;
  return (
    <Field label={label} fault={fault} {...(hint !== undefined && { hint })}>
      {(ties) => (
        <Combobox
          ties={ties}
          values={Array.isArray(value) ? value : []}
          onInput={onInput}
          optionsFor={spec.optionsFor ?? noOptions}
          isMultiple={spec.kind === "names"}
          takesOthers={spec.takesOthers}
        />
      )}
    </Field>
  );
}

function noOptions(): Promise<readonly []> {
  return Promise.resolve([]);
}
