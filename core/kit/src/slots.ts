/**
 * Slots: typed values on an exchange, each owned by the step or the part of the engine that defines
 * it.
 */

import type { Exchange, Slots } from "@sluice/contract";

/** The members of an exchange that a slot needs. */
type Holder = Pick<Exchange, "slots">;

/** A typed place on every exchange. Reading it costs as much as reading a member of an array. */
export interface Slot<T> {
  /** For messages and debugging. Two slots may have one name. */
  readonly name: string;
  /** The value; `undefined` until one is set. */
  get(exchange: Holder): T | undefined;
  set(exchange: Holder, value: T | undefined): void;
}

/** Options of a slot. */
export interface SlotOptions<T> {
  /**
   * The value that a step in shadow begins with, from the exchange's own. Absent: the same value.
   */
  readonly inShadow?: (value: T) => T | undefined;
}

const SHADOWS: (((value: unknown) => unknown) | undefined)[] = [];

/**
 * Defines a slot. Call it once for each module, never for each exchange or instance: slots are
 * numbered and not freed.
 *
 * @example
 * const REGION = defineSlot<string>("region");
 * REGION.set(exchange, "eu");
 * REGION.get(exchange); // "eu"
 */
export function defineSlot<T>(name: string, { inShadow }: SlotOptions<T> = {}): Slot<T> {
  const index = SHADOWS.length;
  SHADOWS.push(inShadow as ((value: unknown) => unknown) | undefined);
  return {
    name,
    get: ({ slots }) => slots[index] as T | undefined,
    set: ({ slots }, value) => {
      // An array without holes keeps its reads fast.
      while (slots.length < index) slots.push(undefined);
      slots[index] = value;
    },
  };
}

/** The slots that a step in shadow begins with. */
export function shadowSlots(slots: Slots): Slots {
  return slots.map((value, index) => {
    const inShadow = SHADOWS[index];
    return value === undefined || inShadow === undefined ? value : inShadow(value);
  });
}
