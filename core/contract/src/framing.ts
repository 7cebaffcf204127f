/** Framings of streams: how the bytes of an upstream's stream become events. */

/** One event of an upstream's stream. */
export interface UpstreamEvent {
  /** The event's type, `undefined` when unnamed. */
  readonly event: string | undefined;
  readonly data: string;
}

/** Turns the bytes of a stream into events. */
export interface EventReader {
  /** Reads a chunk. Throws `upstream_invalid_response` for an event that is damaged or over the reader's bound. */
  push(chunk: Uint8Array): void;
  /** Ends the input. */
  end(): void;
}

/** The framing of a provider whose upstream sends other streams than server-sent events. */
export interface StreamFraming {
  /** The content type of such a stream, in lower case, without parameters. */
  readonly contentType: string;
  /**
   * Whether the first bytes of a reply begin such a stream; `undefined` when that takes more bytes.
   * Replies of native requests are recognised by their bytes: a proxy may have changed the type.
   */
  begins(head: Uint8Array): boolean | undefined;
  /** A reader of one stream. */
  createReader(onEvent: (event: UpstreamEvent) => void): EventReader;
}
