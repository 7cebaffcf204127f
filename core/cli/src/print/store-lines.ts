/** Lines about the store and the leader of the processes that share it. */

/** The members `store` and `leader` of a status, as far as they are printed. */
export interface StoreStatus {
  readonly store?: {
    readonly away: boolean;
    /** `all`, `known` or `none`. */
    readonly serves: string;
    readonly changes_age_ms: number | null;
  } | null;
  readonly leader?: {
    readonly holder: string | null;
    readonly jobs: readonly {
      readonly job: string;
      readonly at: string;
      readonly error: string | null;
    }[];
  } | null;
}

/** What an operator has to know; nothing while all is well. */
export function storeLines({ store, leader }: StoreStatus): readonly string[] {
  const failed = leader?.jobs.filter(({ error }) => error !== null) ?? [];
  return [
    ...(store?.away === true ? [awayLine(store)] : []),
    ...failed.map(
      ({ job, at, error }) =>
        `warning: the job ${job} of the leader ${leader?.holder ?? "unknown"} failed at ${at}: ${error}`,
    ),
  ];
}

function awayLine({ serves, changes_age_ms: ageMs }: NonNullable<StoreStatus["store"]>): string {
  const since = ageMs === null ? "" : ` for ${Math.round(ageMs / 1_000)} s`;
  const effect =
    serves === "known"
      ? "known keys are served, up to store.max_staleness"
      : "requests with keys of the store are refused";
  return `the store does not answer${since}: ${effect}`;
}
