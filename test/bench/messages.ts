/** What the runner and the load process say to each other. */

/** Runner to load: open connections and send one request on each, unmeasured. */
export interface PrepareMessage {
  readonly kind: "prepare";
  readonly port: number;
  readonly concurrency: number;
  /** The request as it goes over the wire. */
  readonly request: string;
  readonly stream: boolean;
  /** The keys that the requests use in turn. */
  readonly usedKeys: number;
}

/** Runner to load: send so many requests on the open connections, then close them. */
export interface GoMessage {
  readonly kind: "go";
  readonly count: number;
}

/** Runner to load: send so many requests a second on the open connections, then close them. */
export interface PacedMessage {
  readonly kind: "send-paced";
  readonly perSecond: number;
  readonly seconds: number;
}

/** Load to runner: the connections are open and warm. `sample` is one reply, body unchunked. */
export interface ReadyMessage {
  readonly kind: "ready";
  readonly sample: string;
}

/** Load to runner: what one slice measured. */
export interface SliceMessage {
  readonly kind: "slice";
  readonly count: number;
  readonly failed: number;
  readonly elapsedMs: number;
  /** Reads from the sockets. */
  readonly reads: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Load to runner: what requests at a fixed rate have seen. */
export interface PacedResultMessage {
  readonly kind: "paced";
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Load to runner: the slice could not be run. */
export interface FaultMessage {
  readonly kind: "fault";
  readonly message: string;
}

export type ToLoad = PrepareMessage | GoMessage | PacedMessage;
export type FromLoad = ReadyMessage | SliceMessage | PacedResultMessage | FaultMessage;
