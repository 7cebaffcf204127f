/** All targets, the floor first: every ratio is to it. */

import type { Target } from "../target.ts";
import { floor } from "./floor.ts";
import { nginx } from "./nginx.ts";
import { portkey } from "./portkey.ts";
import { PRESENT, type Checkout } from "./gateway/present.ts";
import { sluiceTargets } from "./sluice.ts";

/**
 * The targets of a run. With `other`, each gateway target of the present checkout has that
 * checkout's twin behind it.
 */
export function targets(other: Checkout | undefined): readonly Target[] {
  const others = other === undefined ? [] : sluiceTargets(other);
  return [
    floor,
    ...sluiceTargets(PRESENT).flatMap((own, index) => [own, ...others.slice(index, index + 1)]),
    nginx,
    portkey,
  ];
}
