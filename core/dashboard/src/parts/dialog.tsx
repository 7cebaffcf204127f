/** Modal dialogs on the browser's own `<dialog>`: it traps and returns the focus. */

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "./button.tsx";
import { Failed } from "./marks.tsx";

/** A dialog that is open as long as it is rendered. */
export function Dialog(props: {
  readonly title: string;
  /** The operator wants it closed: `Esc`, the cross. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly isClosable?: boolean;
}) {
  const { title, onClose, children, class: more = "", isClosable = true } = props;
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the paint: what is typed next goes into the dialog.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const dialog = ref.current;
    if (dialog !== null && !dialog.open) dialog.showModal();
    return () => {
      dialog?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      class={more}
      aria-labelledby={id}
      onCancel={(event) => {
        // A list inside of the dialog cancels too.
        if (event.target !== event.currentTarget) return;
        event.preventDefault();
        if (isClosable) onClose();
      }}
      onKeyDown={(event) => {
        // Chromium closes a dialog at the second Esc without asking.
        if (event.key !== "Escape" || event.defaultPrevented) return;
        event.preventDefault();
        if (isClosable) onClose();
      }}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        {isClosable && <Button kind="quiet" icon="close" label="Close" onClick={onClose} />}
      </div>
      {children}
    </dialog>
  );
}

/** Asks before something that cannot be taken back, or that others feel. */
export function Confirm(props: {
  readonly title: string;
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly isBusy: boolean;
  /** Why the last try failed. */
  readonly failure: { readonly message: string } | undefined;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const { title, action, isDangerous = false, isBusy, failure } = props;
  const { onConfirm, onClose, children } = props;
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="dialog-body">
        <Failed of={failure} />
        {children}
      </div>
      <div class="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind={isDangerous ? "danger primary" : "primary"}
          isBusy={isBusy}
          onClick={onConfirm}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
