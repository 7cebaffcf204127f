/**
 * The host of a step in shadow. Its state is separate, so it uses up no limits of real requests.
 */

import { prefixedState } from "@sluice/kit/internals";
import type { Host } from "@sluice/contract";

const PREFIX = "shadow:";

/**
 * A host whose shared values, windows, budgets, entries and records stand under keys of their own.
 */
export function shadowHost(host: Host): Host {
  const own: Partial<Host> = {
    shared: (key, make) => host.shared(`${PREFIX}${key}`, make),
    state: prefixedState(host.state, PREFIX),
  };
  // All else is read from the real host: a catalogue is created at first use.
  return Object.create(host, Object.getOwnPropertyDescriptors(own)) as Host;
}
