/**
 * A combobox by the ARIA pattern (WAI-ARIA APG, "Combobox With List Autocomplete"): an input, and a
 * list of options that the arrow keys walk through. For one value, or for several as tokens.
 */

import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Ties } from "./field.tsx";
import { Icon } from "./icon.tsx";

/** One offer of the list. */
export interface Option {
  readonly value: string;
  readonly detail?: string;
}

/** What a combobox is made from. */
export interface ComboboxProps {
  readonly ties: Ties;
  readonly values: readonly string[];
  readonly onInput: (values: readonly string[]) => void;
  /** Options for a typed text, from the gateway. The newest call wins. */
  readonly optionsFor: (text: string, signal: AbortSignal) => Promise<readonly Option[]>;
  readonly isMultiple: boolean;
  /** Whether a text that is no option is a value too. */
  readonly takesOthers: boolean;
}

const TYPED_MS = 150;

/** The control. */
export function Combobox(props: ComboboxProps) {
  const { ties, values, onInput } = props;
  const listId = useId();
  const input = useRef<HTMLInputElement>(null);
  const list = useList(props);
  const { options, at } = list;
  const isShown = list.isOpen && options.length > 0;
  return (
    <div class="combo">
      <div class="combo-box">
        {values.map((value) => (
          <Token
            key={value}
            value={value}
            onRemove={() => {
              onInput(values.filter((one) => one !== value));
              input.current?.focus();
            }}
          />
        ))}
        <input
          {...ties}
          ref={input}
          role="combobox"
          aria-autocomplete="list"
          aria-expanded={isShown}
          aria-controls={listId}
          aria-activedescendant={isShown && at >= 0 ? `${listId}-${at}` : undefined}
          value={list.text}
          autocomplete="off"
          autoCapitalize="off"
          spellcheck={false}
          onInput={(event) => list.type(event.currentTarget.value)}
          onFocus={list.open}
          onBlur={list.leave}
          onKeyDown={list.onKeyDown}
        />
      </div>
      <ul id={listId} class="combo-list" role="listbox" aria-label="Options" hidden={!isShown}>
        {options.map((option, index) => (
          <OptionItem
            key={option.value}
            id={`${listId}-${index}`}
            option={option}
            isSelected={index === at}
            onTake={() => list.take(option.value)}
          />
        ))}
      </ul>
    </div>
  );
}

function Token({ value, onRemove }: { readonly value: string; readonly onRemove: () => void }) {
  return (
    <span class="token">
      {value}
      <button type="button" aria-label={`Remove ${value}`} onClick={onRemove}>
        <Icon name="close" />
      </button>
    </span>
  );
}

function OptionItem(props: {
  readonly id: string;
  readonly option: Option;
  readonly isSelected: boolean;
  readonly onTake: () => void;
}) {
  const { id, option, isSelected, onTake } = props;
  return (
    <li
      id={id}
      class="option"
      role="option"
      aria-selected={isSelected}
      // Before the blur, which would close the list.
      onMouseDown={(event) => {
        event.preventDefault();
        onTake();
      }}
    >
      <span>{option.value}</span>
      {option.detail !== undefined && <span class="detail">{option.detail}</span>}
    </li>
  );
}

/** What is typed, which option is reached, and what keys do. */
function useList(props: ComboboxProps) {
  const { values, onInput, isMultiple, takesOthers } = props;
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const options = useOptions(props, text, isOpen).filter(({ value }) => !values.includes(value));
  const close = (): void => {
    setOpen(false);
    setAt(-1);
  };
  const take = (value: string): void => {
    onInput(isMultiple ? [...values, value] : [value]);
    setText("");
    close();
  };
  const takeTyped = (): void => {
    const typed = text.trim();
    const isOffered = options.some(({ value }) => value === typed);
    if (typed !== "" && !values.includes(typed) && (takesOthers || isOffered)) take(typed);
    else setText("");
  };
  const walk = (step: 1 | -1): void => {
    setOpen(true);
    const first = step === 1 ? 0 : options.length - 1;
    setAt(at < 0 ? first : (at + step + options.length) % Math.max(1, options.length));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { key } = event;
    if (key === "ArrowDown") walk(1);
    else if (key === "ArrowUp") walk(-1);
    else if (key === "Enter" && isOpen && at >= 0) take(options[at]?.value ?? text);
    else if ((key === "Enter" || key === ",") && text.trim() !== "") takeTyped();
    else if (key === "Escape" && isOpen && options.length > 0) close();
    else {
      if (key === "Backspace" && text === "" && values.length > 0) onInput(values.slice(0, -1));
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return {
    text,
    isOpen,
    at,
    options,
    take,
    onKeyDown,
    open: () => setOpen(true),
    type: (typed: string) => {
      setText(typed);
      setOpen(true);
      setAt(-1);
    },
    leave: () => {
      takeTyped();
      close();
    },
  };
}

/** The options for a text, asked for when the typing pauses. */
function useOptions(
  { optionsFor }: ComboboxProps,
  text: string,
  isOpen: boolean,
): readonly Option[] {
  const [options, setOptions] = useState<readonly Option[]>([]);
  useEffect(() => {
    if (!isOpen) return;
    const ends = new AbortController();
    const show = (found: readonly Option[]): void => {
      if (!ends.signal.aborted) setOptions(found);
    };
    const timer = setTimeout(() => {
      optionsFor(text.trim(), ends.signal).then(show, () => show([]));
    }, TYPED_MS);
    return () => {
      clearTimeout(timer);
      ends.abort();
    };
  }, [text, isOpen]);
  return options;
}
