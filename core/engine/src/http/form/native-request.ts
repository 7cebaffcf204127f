/** The client's own document beside what a face has made of it, for the native lane. */

import type {
  ClientRequest,
  Face,
  FaceRequest,
  JsonDocument,
  NativeRequest,
} from "@sluice/contract";

const NO_NAMES: readonly string[] = Object.freeze([]);
const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/** What a native request is made of beside the translation. */
export interface NativeParts {
  /** Without the gateway's own members. */
  readonly document: JsonDocument;
  readonly translated: JsonDocument;
  readonly client: ClientRequest;
  /** Whether the reply is kept. */
  readonly isKept: boolean;
}

/** The native request of a face's client. */
export function nativeRequest(
  { dialect, nativeHeaders = NO_NAMES, hints = NO_NAMES, nativeReplies }: Face,
  { nativeOnly = [], holdsOwnMarks, thoughtsOf, sealed, endpoint }: FaceRequest,
  { document, translated, client, isKept }: NativeParts,
): NativeRequest {
  return {
    dialect,
    document,
    translated,
    only: nativeOnly,
    hints,
    headers: headersOf(client, nativeHeaders),
    ...(holdsOwnMarks === undefined ? {} : { holdsOwnMarks }),
    ...(nativeReplies === undefined ? {} : { replies: nativeReplies }),
    ...(thoughtsOf === undefined ? {} : { thoughtsOf }),
    ...(sealed === undefined ? {} : { sealed }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(isKept ? { isKept } : {}),
  };
}

function headersOf(
  client: ClientRequest,
  names: readonly string[],
): Readonly<Record<string, string>> {
  if (names.length === 0) return NO_HEADERS;
  const found = names.map((name) => [name, client.header(name)] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
}
