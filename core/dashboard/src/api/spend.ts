/** Sums of spend rows, as `GET /spend/report` answers them. */

/** One group of a report. Which of the ids it has says `group_by`. */
export interface SpendGroup {
  readonly start?: string;
  readonly organization_id?: string | null;
  readonly team_id?: string | null;
  readonly user_id?: string | null;
  readonly api_key?: string | null;
  readonly key_alias?: string | null;
  readonly tag?: string | null;
  readonly model?: string | null;
  readonly provider?: string | null;
  readonly end_user?: string | null;
  readonly spend: number;
  readonly lost_spend: number;
  readonly requests: number;
  readonly rows: number;
  readonly failed_rows: number;
  readonly partial_rows: number;
  readonly unpriced_rows: number;
  readonly estimated_rows: number;
  readonly cache_hits: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly cached_tokens: number;
}

/** A report. Days and hours are UTC. */
export interface SpendReport {
  readonly bucket: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly next_cursor: string | null;
  readonly data: readonly SpendGroup[];
}
