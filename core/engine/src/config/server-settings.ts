/** `server:` as the process reads it. */

import type { ErrorCodeForm, RecordLimits, Secret } from "@sluice/contract";
import type { Position } from "./files/position.ts";

/** A master key that is about to end. */
export interface PreviousKey {
  readonly key: Secret;
  /** In milliseconds since 1970. */
  readonly untilMs: number;
}

/** What administrators may do to the files over the admin listener. */
export type EditorMode = "off" | "propose" | "write";

/** `server:`, spans in milliseconds and sizes in bytes. */
export interface ServerSettings {
  /** The name of the environment, for people. */
  readonly name?: string;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly admin: {
    readonly host: string;
    readonly port: number;
    /** The origin that browsers see; absent: that of the listener. */
    readonly publicUrl?: string;
    /** Names in `host` besides the listener's own. */
    readonly hosts: readonly string[];
    /** A key that reads metrics and status and nothing else. */
    readonly readKey?: Secret;
    /** The master key from before a rotation, accepted until a time in milliseconds since 1970. */
    readonly previousKey?: PreviousKey;
    /** What may be done to the files over this listener. */
    readonly editor: EditorMode;
    /** How long lines of the audit are kept. Absent: for ever. */
    readonly keepAuditMs?: number;
  };
  /** Absent: the listeners speak HTTP. */
  readonly tls?: TlsSettings;
  /** Processes that serve. */
  readonly workers: number;
  /** Lower-case header names that carry a key, before `authorization`. */
  readonly authHeaders: readonly string[];
  /** What `error.code` is in the errors of the public listener. */
  readonly errorCode: ErrorCodeForm;
  /** Limits of new keys that name none of their own. */
  readonly keyDefaults: KeyDefaults;
  /** Whether `/openapi.json` and `/docs` need no key. */
  readonly openDocs: boolean;
  readonly drainTimeoutMs: number;
  /** How long a stop still serves new calls, while `/health/ready` is 503. */
  readonly shutdownDelayMs: number;
  /**
   * Maximum time that the event loop of a worker may block; the supervisor then replaces it. 0: no
   * limit.
   */
  readonly hungWorkerTimeoutMs: number;
  /** Whether an edit applies when it is saved, or at `sluice reload`. */
  readonly reload: "on_save" | "on_request";
  /** Absent: an edit stays, however its requests end. */
  readonly autoRollback?: AutoRollbackSettings;
  /** A client that takes nothing of its reply for so long is cut. */
  readonly stalledClientMs: number;
  readonly maxBodyBytes: number;
  /** Bytes of bodies and unread replies that a process holds. */
  readonly maxHeldBytes: number;
  /**
   * Minimum duration of an event-loop block that is reported with its plugin. 0: none is, except in
   * a supervised worker that may be hung.
   */
  readonly blockWarningMs: number;
  /** Requests whose steps are kept for who asks; 0 for none. */
  readonly explainRequests: number;
  /** Absent: no page of another origin may call. */
  readonly cors?: CorsSettings;
  /** Directory for the outbox and the installation's own secrets. Absolute. */
  readonly dataDirectory: string;
  /** Where days, weeks and months of budgets begin: an IANA name. */
  readonly timeZone: string;
  /** Where each setting stands, by its key in YAML; the section itself under an empty key. */
  readonly places: Readonly<Record<string, Position>>;
}

/** Limits by the members of a key's record. */
export type KeyDefaults = Partial<Omit<RecordLimits, "softBudgetNanoUsd">>;

/** Files of a certificate and its key. Absolute paths. */
export interface TlsSettings {
  readonly certificate: string;
  readonly key: string;
}

/** When a new generation is not to stay. */
export interface AutoRollbackSettings {
  /** More than this share of its requests failed, between 0 and 1. */
  readonly errorRate: number;
  /** And less than this share of those before. */
  readonly onlyBelow: number;
  /** Neither is judged by fewer requests. */
  readonly minRequests: number;
  /** After the swap. */
  readonly forMs: number;
}

/** Which origins' pages may call. */
export interface CorsSettings {
  readonly origins: readonly string[];
  readonly maxAgeMs: number;
}
