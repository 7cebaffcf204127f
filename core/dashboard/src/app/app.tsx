/** The whole page: the sign-in, or the shell with a screen. */

import { useCell } from "./cell.ts";
import { findSession, sessionCell } from "../api/session.ts";
import { Gate } from "../parts/icon.tsx";
import { Failure } from "../parts/states.tsx";
import { Toasts } from "../parts/toasts.tsx";
import { Shell } from "./shell.tsx";
import { SignInAgain, SignInPage } from "./sign-in.tsx";

/** The page. */
export function App() {
  const state = useCell(sessionCell);
  switch (state.is) {
    case "unknown":
      return null;
    case "away":
      return (
        <div class="entry">
          <main>
            <p class="brand">
              <Gate />
              Sluice
            </p>
            <h1 class="unseen">Sluice</h1>
            <Failure error={state.failure} onRetry={() => void findSession()} />
          </main>
        </div>
      );
    case "out":
      return <SignInPage notice={state.notice} />;
    case "in":
      return (
        <>
          {/* Another person gets a page of their own: nothing typed by the one before stays. */}
          <Shell key={state.session.name ?? "master"} />
          {state.isOver && <SignInAgain />}
          <Toasts />
        </>
      );
  }
}
