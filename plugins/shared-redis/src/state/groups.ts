/** Where the counters and entries of shared state are. */

import type { Claim, StateGroup } from "@sluice/contract";
import type { Place, Servers } from "../servers/servers.ts";
import { slotOf } from "../servers/slots.ts";

/** Tags among which entries and records are distributed. */
const SHARDS = 1_024;
/** The tag of what is known of entries within bounds. */
const BOUNDS_TAG = "#bounds";

/** The places of groups, and of entries. */
export class Places {
  readonly #servers: Servers;
  readonly #ofGroups = new WeakMap<StateGroup, Place>();
  readonly #shards: (Place | undefined)[] = [];
  /** The place of what is known of entries within bounds. Of one server: of everything. */
  readonly bounds: Place;

  constructor(servers: Servers) {
    this.#servers = servers;
    this.bounds = servers.place(BOUNDS_TAG);
  }

  /** The place of a counter: its group's, or its own. */
  ofCounter(key: string, group: StateGroup | undefined): Place {
    if (!this.#servers.isCluster) return this.bounds;
    if (group === undefined) return this.#servers.place(key);
    let place = this.#ofGroups.get(group);
    if (place === undefined) this.#ofGroups.set(group, (place = this.#servers.place(group.name)));
    return place;
  }

  /** The place of an entry of the cache, or of a record. */
  ofEntry(key: string): Place {
    if (!this.#servers.isCluster) return this.bounds;
    const shard = slotOf(key) % SHARDS;
    return (this.#shards[shard] ??= this.#servers.place(`#${shard}`));
  }
}

/** The claims of a reservation at one place. */
export interface Part {
  readonly place: Place;
  readonly order: number;
  readonly claims: readonly Claim[];
  /** The indices of the claims in the reservation. */
  readonly at: readonly number[];
}

interface OpenPart extends Part {
  readonly claims: Claim[];
  readonly at: number[];
}

/** The claims of a reservation by their places, in the order in which these are asked. */
export function partsOf(claims: readonly Claim[], places: Places): Part[] {
  const parts: OpenPart[] = [];
  for (const [at, claim] of claims.entries()) {
    const place = places.ofCounter(claim.key, claim.group);
    let part = parts.find((other) => other.place.prefix === place.prefix);
    if (part === undefined) {
      part = { place, order: claim.group?.order ?? Infinity, claims: [], at: [] };
      parts.push(part);
    }
    part.claims.push(claim);
    part.at.push(at);
  }
  return parts.toSorted(
    (one, other) => one.order - other.order || (one.place.prefix < other.place.prefix ? -1 : 1),
  );
}
