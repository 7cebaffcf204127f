/** The fields of one request while they are adapted to a model. */

import type { Capabilities, JsonValue, Operation } from "@sluice/contract";

/** The model, and the rules of the adaptation. */
export interface SettleTerms {
  readonly operation: Operation;
  /** The provider's name, for refusals. */
  readonly provider: string;
  readonly capabilities: Capabilities;
  /** The target's model. */
  readonly model: string;
  /** Whether an unsupported demand is dropped: `drop_params`. */
  readonly isDropping: boolean;
  /** Demands that this client sends to every model: they are dropped like hints. Absent: none. */
  readonly hints?: readonly string[];
}

/** Fields during the adaptation. */
export interface Draft {
  readonly terms: SettleTerms;
  /** The body with its changes. */
  value(name: string): JsonValue | undefined;
  set(name: string, value: JsonValue): void;
  remove(...names: readonly string[]): void;
  /** Records a field that is not honoured. */
  list(name: string): void;
  takes(name: string): boolean;
}
