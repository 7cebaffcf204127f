/** What one state of the configuration would change against another. */

import { useEffect, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../../api/api-error.ts";
import { post } from "../../api/client.ts";
import type { Impact } from "../../api/config.ts";

/** The two sides: a generation, what runs, or the files. */
export interface Sides {
  readonly from: number | "running" | "files";
  readonly to: number | "running" | "files";
  readonly replay?: boolean;
}

/** Asks once for each pair of sides. */
export function useImpact(sides: Sides): {
  readonly data: Impact | undefined;
  readonly error: ApiError | undefined;
} {
  const [answer, setAnswer] = useState<{ readonly data?: Impact; readonly error?: ApiError }>({});
  const { from, to, replay = true } = sides;
  useEffect(() => {
    const ends = new AbortController();
    setAnswer({});
    post<Impact>("/config/diff", { from, to, replay }, { signal: ends.signal }).then(
      (data) => setAnswer({ data }),
      (error: unknown) => {
        if (!ends.signal.aborted) setAnswer({ error: asApiError(error) });
      },
    );
    return () => ends.abort();
  }, [from, to, replay]);
  return { data: answer.data, error: answer.error };
}
