/** The fields of one request while they are being settled for a model. */

import type { Capabilities, JsonValue, Operation } from "@sluice/spec";

/** What is settled for whom. */
export interface SettleTerms {
  readonly operation: Operation;
  /** The provider's name, for refusals. */
  readonly provider: string;
  readonly capabilities: Capabilities;
  /** The target's model. */
  readonly model: string;
  /** Whether a demand that cannot be met is dropped: `drop_params`. */
  readonly isDropping: boolean;
}

/** Fields as they are being settled. */
export interface Draft {
  readonly terms: SettleTerms;
  /** The body with its changes. */
  value(name: string): JsonValue | undefined;
  set(name: string, value: JsonValue): void;
  remove(...names: readonly string[]): void;
  /** Notes a field whose wish is not honoured. */
  list(name: string): void;
  takes(name: string): boolean;
}
