/** A labelled control with its hint and its fault. */

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** What every field has. */
export interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** What is wrong with the value. */
  readonly fault?: string | undefined;
}

/** Names that tie a control to its label, hint and fault. */
export interface Ties {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": "true" | undefined;
}

/** The frame of a field. `children` gets the attributes of the control. */
export function Field(
  props: FieldProps & { readonly children: (ties: Ties) => ComponentChildren },
) {
  const { label, hint, fault, children } = props;
  const id = useId();
  const described = [
    hint !== undefined && `${id}-hint`,
    fault !== undefined && `${id}-fault`,
  ].filter(Boolean);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        "aria-describedby": described.length > 0 ? described.join(" ") : undefined,
        "aria-invalid": fault === undefined ? undefined : "true",
      })}
      {fault !== undefined && (
        <p class="fault" id={`${id}-fault`}>
          {fault}
        </p>
      )}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** A line of text, or a number that is typed as text. */
export function TextField(
  props: FieldProps & {
    readonly value: string;
    readonly onInput: (value: string) => void;
    readonly type?: "text" | "password" | "search" | "datetime-local" | "email" | "date";
    readonly name?: string;
    readonly placeholder?: string;
    readonly autocomplete?: "off" | "current-password";
    readonly inputMode?: "decimal" | "numeric" | "text";
    /** A sign before the value, such as that of a currency. */
    readonly before?: string;
    readonly required?: boolean;
    readonly readOnly?: boolean;
    readonly isFirst?: boolean;
  },
) {
  const { label, hint, fault, value, onInput, before, isFirst = false, ...rest } = props;
  const { type = "text", autocomplete = "off", inputMode, ...more } = rest;
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(ties) => {
        const input = (
          <input
            {...ties}
            {...more}
            class="input"
            // The attributes of an input are typed by its type: all of these are lines of text.
            type={type as "text"}
            inputMode={inputMode ?? "text"}
            value={value}
            autocomplete={autocomplete}
            autoCapitalize="off"
            spellcheck={false}
            autofocus={isFirst}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        );
        if (before === undefined) return input;
        return (
          <div class="affix">
            <span class="before" aria-hidden="true">
              {before}
            </span>
            {input}
          </div>
        );
      }}
    </Field>
  );
}

/** Several lines of text. */
export function AreaField(
  props: FieldProps & {
    readonly value: string;
    readonly onInput: (value: string) => void;
    readonly rows?: number;
    readonly placeholder?: string;
    readonly readOnly?: boolean;
  },
) {
  const { label, hint, fault, value, onInput, rows = 4, ...rest } = props;
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(ties) => (
        <textarea
          {...ties}
          {...rest}
          class="textarea"
          rows={rows}
          spellcheck={false}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** A choice of a control: its value and its words. */
export type Choice = readonly [value: string, words: string];

/** One of a few values. */
export function SelectField(
  props: FieldProps & {
    readonly value: string;
    readonly choices: readonly Choice[];
    readonly onInput: (value: string) => void;
  },
) {
  const { label, hint, fault, value, choices, onInput } = props;
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(ties) => <Select {...ties} value={value} choices={choices} onInput={onInput} />}
    </Field>
  );
}

/** A select without a visible label: `label` is its name. */
export function Select(props: {
  readonly id?: string;
  readonly label?: string;
  readonly value: string;
  readonly choices: readonly Choice[];
  readonly onInput: (value: string) => void;
  readonly "aria-describedby"?: string | undefined;
  readonly "aria-invalid"?: "true" | undefined;
}) {
  const { label, value, choices, onInput, ...ties } = props;
  return (
    <select
      {...ties}
      class="select"
      aria-label={label}
      value={value}
      onChange={(event) => onInput(event.currentTarget.value)}
    >
      {choices.map(([of, words]) => (
        <option key={of} value={of} selected={of === value}>
          {words}
        </option>
      ))}
    </select>
  );
}

/** Yes or no. */
export function CheckField(props: {
  readonly label: ComponentChildren;
  readonly hint?: string;
  readonly checked: boolean;
  readonly onInput: (checked: boolean) => void;
}) {
  const { label, hint, checked, onInput } = props;
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        onChange={(event) => onInput(event.currentTarget.checked)}
      />
      <span>
        {label}
        {hint !== undefined && <span class="muted small"> {hint}</span>}
      </span>
    </label>
  );
}

/** One of a few values, all of them in sight. */
export function Segments(props: {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly Choice[];
  readonly onInput: (value: string) => void;
}) {
  const { label, value, choices, onInput } = props;
  const name = useId();
  return (
    <div class="segments" role="radiogroup" aria-label={label}>
      {choices.map(([of, words]) => (
        <label key={of}>
          <input
            type="radio"
            name={name}
            value={of}
            checked={of === value}
            onChange={() => onInput(of)}
          />
          {words}
        </label>
      ))}
    </div>
  );
}
