/** The limits that a change of several keys sets. */

import { TextField } from "../../parts/field.tsx";
import { readNumber } from "../../records/field-spec.ts";

/** What was typed, by the names of the fields in the route. */
export type TypedLimits = Readonly<Record<string, string>>;

const FIELDS = [
  { name: "max_budget", label: "Budget", kind: "money", hint: "US dollars. " },
  { name: "rpm_limit", label: "Requests a minute", kind: "count", hint: "" },
  { name: "tpm_limit", label: "Tokens a minute", kind: "count", hint: "" },
] as const;

/** Reads what was typed. A dash is `null`: no limit. */
export function readLimits(typed: TypedLimits): {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly faults: TypedLimits;
} {
  const fields: Record<string, unknown> = {};
  const faults: Record<string, string> = {};
  for (const { name, kind } of FIELDS) {
    const text = typed[name];
    if (text === undefined) continue;
    const read = text === "-" ? { value: null } : readNumber(kind, text);
    if ("fault" in read) faults[name] = read.fault;
    else fields[name] = read.value;
  }
  return { fields, faults };
}

/** The fields. An empty one is not in `typed`. */
export function LimitFields(props: {
  readonly typed: TypedLimits;
  readonly faults: TypedLimits;
  readonly onChange: (typed: TypedLimits) => void;
}) {
  const { typed, faults, onChange } = props;
  return (
    <>
      {FIELDS.map(({ name, label, hint }) => (
        <TextField
          key={name}
          label={label}
          hint={`${hint}Empty: as it is. A dash: no limit.`}
          fault={faults[name]}
          inputMode="decimal"
          value={typed[name] ?? ""}
          onInput={(value) => {
            const { [name]: _before, ...others } = typed;
            onChange(value.trim() === "" ? others : { ...others, [name]: value.trim() });
          }}
        />
      ))}
    </>
  );
}
