/** The state of a record's form: what is typed, what is wrong, what others changed meanwhile. */

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { ApiError } from "../api/api-error.ts";
import { post } from "../api/client.ts";
import type { Doing } from "../parts/as-command.tsx";
import { type Clash, clashesOf } from "./clashes.tsx";
import {
  type Draft,
  draftOf,
  type DraftValue,
  type FieldSpec,
  isSame,
  optionsOf,
  readDraft,
  type RecordView,
} from "./field-spec.ts";
import { useSend } from "./use-send.ts";

/** What a form is made from. */
export interface RecordFormProps<Answer> {
  readonly title: string;
  readonly action: string;
  readonly specs: readonly FieldSpec[];
  /** The route, and fields that the operator does not type: the id. */
  readonly path: string;
  readonly fixed?: Readonly<Record<string, unknown>>;
  /** The words of the command: `["keys", "update", "key_1"]`. */
  readonly sluice: readonly string[];
  /** What is typed at first, for a new record. */
  readonly first?: Draft;
  /** The record to change, and what reads it again before it is changed. */
  readonly record?: RecordView;
  readonly reread?: () => Promise<RecordView>;
  readonly lead?: ComponentChildren;
  readonly onDone: (answer: Answer) => void;
  readonly onClose: () => void;
}

type Faults = Readonly<Record<string, string>>;

/** The form of a dialog. */
export function useRecordForm<Answer extends object>(props: RecordFormProps<Answer>) {
  const { record, fixed = {}, sluice, path } = props;
  const isNew = record === undefined;
  const specs = props.specs.filter(({ isFixed, isLater }) => (isNew ? !isLater : !isFixed));
  const [base, setBase] = useState(() => draftOf(specs, record ?? {}));
  const [draft, setDraft] = useState<Draft>(() => ({ ...base, ...props.first }));
  const [faults, setFaults] = useState<Faults>({});
  const [clashes, setClashes] = useState<readonly Clash[]>([]);
  const element = useRef<HTMLFormElement>(null);
  const sending = useSend();
  const { body, faults: unread } = readDraft(specs, draft, isNew ? undefined : base);
  const whole = { ...fixed, ...body };
  const doing = doingOf(path, whole, sluice, optionsOf(specs, body));
  const set = (name: string, value: DraftValue): void => {
    setDraft((before) => ({ ...before, [name]: value }));
    setFaults(({ [name]: _gone, ...others }) => others);
    sending.clear();
  };
  /** Reads the record again. Returns what was changed here and there. */
  const meanwhile = async (): Promise<readonly Clash[]> => {
    if (props.reread === undefined) return [];
    const now = draftOf(specs, await props.reread());
    setBase(now);
    setDraft((typed) => mergedOf(specs, base, typed, now));
    return clashesOf(specs, base, draft, now);
  };
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    const wrong = { ...unread, ...halfTyped(element.current) };
    setFaults(wrong);
    if (Object.keys(wrong).length > 0) return focusFault(element.current);
    if (!isNew && Object.keys(body).length === 0) return props.onClose();
    const answer = await sending.run(async () => {
      const found = await meanwhile();
      setClashes(found);
      return found.length > 0 ? undefined : post<Answer>(path, whole);
    });
    if (answer !== undefined) props.onDone(answer);
    else focusFault(element.current);
  };
  return {
    element,
    specs,
    draft,
    clashes,
    doing,
    set,
    send,
    isBusy: sending.isBusy,
    ...placed(specs, faults, sending.failure),
    settle: (clash: Clash, takesTheirs: boolean): void => {
      if (takesTheirs) set(clash.spec.name, clash.theirs);
      setClashes(clashes.filter(({ spec }) => spec !== clash.spec));
    },
  };
}

function doingOf(
  path: string,
  body: object,
  words: readonly string[],
  options: readonly string[] | undefined,
): Doing {
  return { path, body, ...(options !== undefined && { sluice: [...words, ...options] }) };
}

/** A time of which a part is missing has no value, and is not an empty field. */
function halfTyped(form: HTMLFormElement | null): Faults {
  const inputs = [...(form?.querySelectorAll("input") ?? [])];
  return Object.fromEntries(
    inputs
      .filter(({ validity }) => validity.badInput)
      .map(({ name }) => [name, "Not a whole date and time."]),
  );
}

/** A failure stands at the field that the gateway names, or above the form. */
function placed(specs: readonly FieldSpec[], faults: Faults, failure: ApiError | undefined) {
  const named = specs.find(({ name }) => name === failure?.param);
  if (named === undefined || failure === undefined) return { faults, failure };
  return { faults: { ...faults, [named.name]: failure.message }, failure: undefined };
}

/** What others changed meanwhile is taken, unless it was changed here too. */
function mergedOf(specs: readonly FieldSpec[], base: Draft, typed: Draft, now: Draft): Draft {
  const merged: Record<string, DraftValue> = { ...typed };
  for (const { name } of specs) {
    const theirs = now[name];
    if (theirs !== undefined && isSame(typed[name], base[name])) merged[name] = theirs;
  }
  return merged;
}

/** After the next paint, when the field is marked. */
function focusFault(form: HTMLFormElement | null): void {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
}
