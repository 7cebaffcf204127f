/** Which gateway a target runs: the one of this checkout, or of another. */

import { fileURLToPath } from "node:url";

/** The gateway of one checkout. */
export interface Checkout {
  /** The folder of the repository. */
  readonly root: string;
  /** What stands behind a target's name, as in `sluice@1a2b3c4`; empty for the present checkout. */
  readonly suffix: string;
}

/** The checkout that this file belongs to. */
export const PRESENT: Checkout = {
  root: fileURLToPath(new URL("../../../..", import.meta.url)),
  suffix: "",
};
