/** What the gateway finds in the drafts, asked while they are typed. The newest answer wins. */

import { useEffect, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../../api/api-error.ts";
import { post } from "../../api/client.ts";
import type { Texts, Validation } from "../../api/config.ts";

const TYPED_MS = 300;
const DEADLINE_MS = 60_000;

/** The last answer, and whether a newer one is on its way. */
export interface Validated {
  readonly answer: Validation | undefined;
  readonly error: ApiError | undefined;
  readonly isAsking: boolean;
}

/** Asks for the findings of drafts. Nothing is asked while there is no draft. */
export function useValidation(typed: Texts, isEnabled: boolean): Validated {
  const [state, setState] = useState<Validated>(NOTHING);
  useEffect(() => {
    if (!isEnabled || Object.keys(typed).length === 0) return setState(NOTHING);
    const ends = new AbortController();
    setState((before) => ({ ...before, isAsking: true }));
    const timer = setTimeout(() => {
      validate(typed, false, ends.signal).then(
        (answer) => setState({ answer, error: undefined, isAsking: false }),
        (error: unknown) => {
          if (!ends.signal.aborted)
            setState({ answer: undefined, error: asApiError(error), isAsking: false });
        },
      );
    }, TYPED_MS);
    return () => {
      clearTimeout(timer);
      ends.abort();
    };
  }, [typed, isEnabled]);
  return state;
}

const NOTHING: Validated = { answer: undefined, error: undefined, isAsking: false };

/** Asks once. `replay`: with what the last requests would have become. */
export function validate(typed: Texts, replay: boolean, signal?: AbortSignal): Promise<Validation> {
  const options = { deadlineMs: DEADLINE_MS, ...(signal !== undefined && { signal }) };
  return post<Validation>("/config/validate", { files: typed, replay }, options);
}
