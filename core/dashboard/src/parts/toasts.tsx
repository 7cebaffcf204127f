/** Short messages about what was done. A screen reader says them when it is idle. */

import { createCell, useCell } from "../app/cell.ts";
import { Button } from "./button.tsx";

interface Toast {
  readonly id: number;
  readonly text: string;
}

const SHOWN_MS = 6_000;
const MAX_TOASTS = 3;
const toastCell = createCell<readonly Toast[]>([]);
let lastId = 0;

/** Shows a message for some seconds. */
export function toast(text: string): void {
  const id = ++lastId;
  toastCell.set([...toastCell.value, { id, text }].slice(-MAX_TOASTS));
  setTimeout(() => dismiss(id), SHOWN_MS);
}

function dismiss(id: number): void {
  toastCell.set(toastCell.value.filter((one) => one.id !== id));
}

/** The place of the messages. */
export function Toasts() {
  const toasts = useCell(toastCell);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text }) => (
        <div class="toast" key={id}>
          <span>{text}</span>
          <Button kind="quiet" icon="close" label="Dismiss" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
