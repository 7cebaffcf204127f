/** Signing in with a key: as a page, and over a screen whose session has ended. */

import { useEffect, useState } from "preact/hooks";
import { asApiError } from "../api/api-error.ts";
import { sessionCell, signIn } from "../api/session.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { TextField } from "../parts/field.tsx";
import { Gate } from "../parts/icon.tsx";
import { Notice } from "../parts/marks.tsx";
import { queryClient } from "./live.ts";

/** The page without a session. After the sign-in, the fragment says what is shown. */
export function SignInPage({ notice }: { readonly notice: string | undefined }) {
  useEffect(() => {
    document.title = "Sign in – Sluice";
    queryClient.clear();
  }, []);
  return (
    <div class="entry">
      <main>
        <p class="brand">
          <Gate />
          Sluice
        </p>
        <div class="panel">
          <div class="pad stack">
            <h1>Sign in</h1>
            {notice !== undefined && (
              <Notice tone="warn" isLoud>
                {notice}
              </Notice>
            )}
            <KeyForm />
            <p class="muted small">
              On the gateway's own machine, <code>sluice ui</code> opens this page without a key.
            </p>
          </div>
        </div>
      </main>
    </div>
  );
}

/** Over the screen: what was typed there stays. */
export function SignInAgain() {
  return (
    <Dialog title="Your session has ended" onClose={() => undefined} isClosable={false}>
      <div class="dialog-body">
        <p>Sign in to go on. What you typed on this screen is still there.</p>
        <KeyForm
          onDone={() => {
            void queryClient.invalidateQueries();
          }}
        />
        <p>
          <Button kind="quiet" icon="leave" onClick={() => sessionCell.set({ is: "out" })}>
            Leave this screen
          </Button>
        </p>
      </div>
    </Dialog>
  );
}

function KeyForm({ onDone }: { readonly onDone?: () => void }) {
  const [key, setKey] = useState("");
  const [fault, setFault] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    if (key.trim() === "") {
      setFault("Paste the master key, or an admin key of a user who has a role.");
      return;
    }
    setBusy(true);
    setFault(undefined);
    try {
      await signIn({ key: key.trim() });
      onDone?.();
    } catch (error) {
      setFault(asApiError(error).message);
      setBusy(false);
    }
  };
  return (
    <form class="stack" onSubmit={(event) => void send(event)}>
      {/* Managers of passwords keep a key under a name. */}
      <input type="text" autocomplete="username" value="sluice" readOnly hidden />
      <TextField
        label="Key"
        type="password"
        autocomplete="current-password"
        hint="The master key, or an admin key."
        value={key}
        onInput={setKey}
        fault={fault}
        isFirst
      />
      <Button type="submit" kind="primary" isBusy={isBusy}>
        Sign in
      </Button>
    </form>
  );
}
