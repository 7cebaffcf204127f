/** Reads that repeat while they are looked at, and reads that do not. */

import {
  focusManager,
  keepPreviousData,
  QueryClient,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from "@tanstack/preact-query";
import { useEffect } from "preact/hooks";
import { asApiError, type ApiError } from "../api/api-error.ts";
import { get, type Query } from "../api/client.ts";
import { sessionCell } from "../api/session.ts";

/** How often a live screen reads. A hidden tab does not. */
const LIVE_MS = 2_000;

/** The reads of the page. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (failures, error) => failures < 2 && asApiError(error).kind === "no-answer",
      retryDelay: 1_000,
      staleTime: 1_000,
      gcTime: 60_000,
      networkMode: "always",
    },
    mutations: { retry: false, networkMode: "always" },
  },
});

/** How a read behaves. */
export interface ReadOptions {
  readonly isLive?: boolean;
  readonly enabled?: boolean;
  /** Milliseconds between two reads of a live screen. */
  readonly everyMs?: number;
  /** Shows the last answer while the next one, of other parameters, is on its way. */
  readonly keep?: boolean;
}

/** Reads a route of the admin listener. */
export function useRead<Answer>(
  path: string,
  query: Query = {},
  options: ReadOptions = {},
): UseQueryResult<Answer, ApiError> {
  const { isLive = false, enabled = true, everyMs = LIVE_MS, keep = true } = options;
  const client = useQueryClient();
  const read = {
    queryKey: [path, query],
    queryFn: ({ signal }: { readonly signal: AbortSignal }) => get<Answer>(path, query, { signal }),
    ...(isLive && { retry: false }),
  };
  // The hook asks after the paint. What is not known yet is asked for while the rest is drawn.
  if (enabled && client.getQueryState(read.queryKey) === undefined)
    void client.prefetchQuery<Answer, ApiError>(read);
  return useQuery<Answer, ApiError>({
    ...read,
    enabled,
    // After the end of the session, reads wait for the next sign-in.
    refetchInterval: () => (isLive && !isOver() ? everyMs : false),
    refetchIntervalInBackground: false,
    ...(keep && { placeholderData: keepPreviousData }),
  });
}

/** Live reads wait while a dialog is open that takes away what they read. */
export function usePause(): void {
  useEffect(() => {
    focusManager.setFocused(false);
    return () => focusManager.setFocused(undefined);
  }, []);
}

function isOver(): boolean {
  const state = sessionCell.value;
  return state.is !== "in" || state.isOver;
}

/** Marks answers of some paths as old: those that are shown are read again. */
export function useRefresh(): (...paths: readonly string[]) => void {
  const client = useQueryClient();
  return (...paths) => {
    for (const path of paths)
      void client.invalidateQueries({
        predicate: ({ queryKey: [of] }) => typeof of === "string" && of.startsWith(path),
      });
  };
}
