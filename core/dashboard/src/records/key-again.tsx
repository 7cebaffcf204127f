/** The key of the session once more, for a change that needs it. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { ApiError } from "../api/api-error.ts";
import { enterKeyAgain } from "../api/session.ts";
import { Button } from "../parts/button.tsx";
import { TextField } from "../parts/field.tsx";
import { Notice } from "../parts/marks.tsx";
import { useSend } from "./use-send.ts";

/** Why a failure asks for the key; `undefined`: it does not. */
export function reasonsOf(failure: ApiError | undefined): readonly string[] | undefined {
  const reasons = failure?.status === 403 ? failure.details["reasons"] : undefined;
  return Array.isArray(reasons) ? (reasons as readonly string[]) : undefined;
}

/** The form. What is typed is kept nowhere. */
export function KeyAgain(props: {
  readonly reasons: readonly string[];
  readonly onEntered: () => void;
}) {
  const { reasons, onEntered } = props;
  const [key, setKey] = useState("");
  const sending = useSend();
  const form = useRef<HTMLFormElement>(null);
  // It appears after a click elsewhere.
  useEffect(() => form.current?.querySelector("input")?.focus(), []);
  const enter = async (): Promise<void> => {
    const isDone = await sending.run(async () => {
      await enterKeyAgain(key);
      return true;
    });
    setKey("");
    if (isDone === true) onEntered();
  };
  return (
    <Notice tone="warn" isLoud>
      <form
        ref={form}
        class="stack-s"
        aria-label="Enter the key again"
        onSubmit={(event) => {
          event.preventDefault();
          void enter();
        }}
      >
        <p>This edit needs the key again. It counts for five minutes.</p>
        <ul>
          {reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
        <TextField
          label="Key"
          type="password"
          autocomplete="current-password"
          value={key}
          onInput={setKey}
          fault={sending.failure?.message}
          required
        />
        <div class="row">
          <Button kind="primary" type="submit" isBusy={sending.isBusy}>
            Enter the key
          </Button>
        </div>
      </form>
    </Notice>
  );
}
