/** A search field that asks when the typing pauses. */

import { useEffect, useRef, useState } from "preact/hooks";

const TYPED_MS = 250;

/** The field. Its label is its placeholder and its name. */
export function SearchBox(props: {
  readonly label: string;
  readonly value: string;
  readonly onSearch: (text: string) => void;
}) {
  const { label, value, onSearch } = props;
  const [text, setText] = useState(value);
  const timer = useRef(0);
  const asked = useRef(value);
  useEffect(() => {
    // The fragment changed by another way, such as the browser's back.
    if (value === asked.current) return;
    asked.current = value;
    setText(value);
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const ask = (typed: string): void => {
    clearTimeout(timer.current);
    asked.current = typed.trim();
    onSearch(asked.current);
  };
  return (
    <div class="grow" role="search">
      <input
        class="input"
        type="search"
        aria-label={label}
        placeholder={label}
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          const typed = event.currentTarget.value;
          setText(typed);
          clearTimeout(timer.current);
          timer.current = window.setTimeout(() => ask(typed), TYPED_MS);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") ask(event.currentTarget.value);
        }}
      />
    </div>
  );
}
