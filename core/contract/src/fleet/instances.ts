/** The instances of a fleet: gateways that share one store, as each of them reports itself. */

/** Whether an instance takes requests, or finishes those under way. */
export type InstanceState = "serving" | "draining";

/**
 * What a process reports. A gateway with several workers is one instance with several processes.
 */
export interface InstanceReport {
  /** The instance. It stays the same over restarts on the same data folder. */
  readonly id: string;
  /** The number of the worker; 0: the process is the whole gateway. */
  readonly worker: number;
  /** The name of the machine or the pod. */
  readonly name: string;
  /** The version of the gateway. */
  readonly version: string;
  /** The address of the admin listener, for the operator; `null` where it is not known yet. */
  readonly adminUrl: string | null;
  /** The path of the data folder there; `null` where the version does not report it. */
  readonly dataDirectory: string | null;
  readonly state: InstanceState;
  /** The configured number of workers. */
  readonly workers: number;
  readonly startedAtMs: number;
  /** The generation that serves all keys, and the time since which it does. */
  readonly generation: number;
  readonly sinceMs: number;
  /** The digest of the generation: file contents and the values of references. */
  readonly digest: string;
  /** The digest of the file contents alone: equal on machines with other secrets. */
  readonly contents: string;
  /** The digest of the file contents of a canary; `null` without one. */
  readonly canary: string | null;
  /** The contents that the process refused last and does not run; `null` without any. */
  readonly refused: RefusedContents | null;
}

/** Contents that an instance does not run, and why. */
export interface RefusedContents {
  /** Absent: the contents could not be read. */
  readonly contents: string | null;
  /** One sentence a finding. */
  readonly reasons: readonly string[];
}

/** A stored report. */
export interface InstanceRecord extends InstanceReport {
  /** The time of the report, by the clock of the store. */
  readonly seenAtMs: number;
}

/** The reports of a fleet at one time of the store's clock. */
export interface InstanceList {
  readonly nowMs: number;
  readonly records: readonly InstanceRecord[];
}

/** Stored instances. */
export interface InstanceStore {
  /** The time between two reports without a change, in milliseconds. */
  readonly reportEveryMs: number;
  /** Writes the report of a process over its last one. */
  report(report: InstanceReport): Promise<void>;
  /**
   * Deletes the report of a process that ends; without a worker those of an instance. Returns
   * whether there was one.
   */
  leave(id: string, worker?: number): Promise<boolean>;
  /** All reports, up to `limit`, the newest first. */
  list(limit: number): Promise<InstanceList>;
  /** Deletes reports that are older than this. */
  expire(olderThanMs: number): Promise<void>;
}
