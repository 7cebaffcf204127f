/** The current use of the rates of a key or a team. */

import type { SharedValue } from "../host.ts";
import type { Identity } from "../identity.ts";

/** The key under which the book is shared. */
export const WINDOW_BOOK_KEY = "limits-windows";

/** The owner of the windows. */
export interface WindowOwner {
  readonly kind: "key" | "team";
  readonly id: string;
  /** What it belongs to, as in the identities of its requests. */
  readonly belonging: Pick<Identity, "keyId" | "userId" | "teamId" | "organizationId">;
}

/** The use of the windows of a minute, as the limits count it. */
export interface WindowUse {
  readonly requests: number;
  readonly tokens: number;
}

/** Reads windows where requests are counted: in the process, or in a server of all. */
export interface WindowBook extends SharedValue {
  /** Rejects as shared state does. */
  used(owner: WindowOwner): Promise<WindowUse>;
}
