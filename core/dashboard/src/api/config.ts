/** Answers about the configuration. */

/** A finding of a check. */
export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly fix: string;
  readonly text: string;
}

/** Who made an edit, and how that is known. */
export interface Author {
  readonly name: string;
  readonly from: "caller" | "file" | "gateway";
}

/** The result of an edit. */
export interface Attempt {
  readonly outcome: string;
  readonly at: string;
  readonly digest: string | null;
  readonly generation: number | null;
  readonly reason: string | null;
  readonly author: Author | null;
  readonly findings: readonly Finding[];
}

/** A tally of one side of a canary. */
export interface Side {
  readonly requests: number;
  readonly errors: number;
  readonly p99_ms: number | null;
}

/** A canary that runs. */
export interface Canary extends Side {
  readonly generation: number;
  readonly share: string | number;
  readonly since: string;
  readonly ends_at: string;
  readonly abort_if: {
    readonly error_rate: string | number | null;
    readonly p99_ms: number | null;
  };
  readonly min_requests: number;
  readonly others: Side;
}

/** `GET /config/status`, as far as the page looks. */
export interface ConfigStatus {
  readonly version: string;
  /** `server.name`; absent on gateways that do not answer it. */
  readonly name?: string | null;
  readonly live: {
    readonly generation: number;
    readonly digest: string;
    readonly since: string;
    readonly leases: number;
    readonly origin: string | null;
    readonly contents_of: number | null;
    readonly author: Author | null;
    readonly warnings: readonly Finding[];
  } | null;
  readonly drift: {
    readonly files_differ: boolean;
    readonly files: readonly { readonly path: string; readonly change: string }[];
  };
  readonly last_attempt: Attempt | null;
  readonly draining: readonly {
    readonly generation: number;
    readonly leases: number;
    readonly oldest_age_ms: number;
  }[];
  readonly canary: Canary | null;
  readonly waiting_for_restart: readonly string[];
  readonly previous_key: object | null;
  readonly ledger: {
    readonly writable: boolean;
    readonly fault: { readonly place: string; readonly text: string } | null;
    readonly store_failing: boolean;
    readonly kept_rows: number;
    readonly outbox_batches: number;
  } | null;
  /** With workers: what each of them runs. */
  readonly workers?: readonly {
    readonly worker: number;
    readonly pid: number;
    readonly answers: boolean;
    readonly generation: number | null;
    readonly digest: string | null;
    readonly differs: string | null;
  }[];
  readonly workers_agree?: boolean;
}

/** How much an effect of an edit matters. */
export type Risk = "danger" | "caution" | "safe";

/** One effect of an edit. */
export interface Effect {
  readonly risk: Risk;
  readonly about: string;
  readonly message: string;
  readonly file?: string | null;
  readonly line?: number | null;
}

/** What an edit changes. */
export interface Impact {
  readonly risk: Risk;
  readonly danger: number;
  readonly caution: number;
  readonly safe: number;
  readonly effects: readonly Effect[];
  readonly replay?: Replay;
}

/** Requests of the last time, judged again by the candidate. */
export interface Replay {
  readonly evaluated: number;
  readonly spend: {
    readonly requests: number;
    readonly did_cost: number;
    readonly would_cost: { readonly least: number; readonly most: number };
    readonly refused: number;
    readonly unknown: number;
  };
  readonly [tally: string]: unknown;
}

/** A generation of the history. */
export interface Generation {
  readonly generation: number;
  readonly digest: string;
  readonly at: string;
  readonly is_live: boolean;
  readonly origin: string | null;
  readonly contents_of: number | null;
  readonly forced: boolean;
  readonly reason: string | null;
  readonly author: Author | null;
  readonly returned: string | null;
  readonly changes: readonly string[];
  readonly risk: Risk;
  readonly effects: readonly Effect[];
}

/** `GET /config/history` */
export interface ConfigHistory {
  readonly generations: readonly Generation[];
  readonly attempts: readonly Attempt[];
}
