/**
 * The exchange that a step in shadow works on: it begins as the real one is, and nothing that is
 * set on it has an effect.
 */

import { openAttempt, SERVICES } from "@sluice/runtime";
import { shadowSlots, type ViewApart, viewApart } from "@sluice/kit/internals";
import type { Exchange } from "@sluice/contract";

/**
 * A view of an exchange for a step in shadow. Attempts are the real ones, and so are prices; all
 * else is its own.
 */
export function shadowOf(real: Exchange): ViewApart {
  const shadow = viewApart(real, {
    slots: shadowSlots(real.slots),
    attempts: real.attempts,
    note: (step, text, about) => real.note(step, `in shadow: ${text}`, about),
  });
  const services = SERVICES.get(real);
  SERVICES.set(shadow, {
    readBody: async () => services?.readBody(),
    // No upstream call is made in shadow: the record is not listed.
    openAttempt: ({ model, lifetime }, target, provider) =>
      openAttempt({ number: 0, target, model, provider, startedAtMs: lifetime.startedAtMs }),
    hold: services?.hold,
  });
  return shadow;
}
