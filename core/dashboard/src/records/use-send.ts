/** One change at a time: a second click, or a second press of Enter, sends nothing. */

import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../api/api-error.ts";

/** The state of a change. */
export interface Sending {
  readonly isBusy: boolean;
  readonly failure: ApiError | undefined;
  /** Runs a change. `undefined`: it failed, or another one runs. */
  run<Answer>(change: () => Promise<Answer>): Promise<Answer | undefined>;
  clear(): void;
}

/** Makes the state of a change. */
export function useSend(): Sending {
  const isRunning = useRef(false);
  const isThere = useRef(true);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiError>();
  useEffect(() => {
    isThere.current = true;
    return () => {
      isThere.current = false;
    };
  }, []);
  return {
    isBusy,
    failure,
    clear: () => setFailure(undefined),
    async run(change) {
      if (isRunning.current) return undefined;
      isRunning.current = true;
      setBusy(true);
      setFailure(undefined);
      try {
        return await change();
      } catch (error) {
        if (isThere.current) setFailure(asApiError(error));
        return undefined;
      } finally {
        isRunning.current = false;
        if (isThere.current) setBusy(false);
      }
    },
  };
}
