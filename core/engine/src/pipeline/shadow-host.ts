/** The host of a step in shadow: what it keeps is its own, so that counting for it takes nothing from anybody. */

import { prefixedState } from "@sluice/kit/state";
import type { Host } from "@sluice/spec";

const PREFIX = "shadow:";

/** A host whose shared values, windows, budgets, entries and records stand under keys of their own. */
export function shadowHost(host: Host): Host {
  const own: Partial<Host> = {
    shared: (key, make) => host.shared(`${PREFIX}${key}`, make),
    state: prefixedState(host.state, PREFIX),
  };
  // The rest is read through: a catalogue is made when somebody asks for it.
  return Object.create(host, Object.getOwnPropertyDescriptors(own)) as Host;
}
