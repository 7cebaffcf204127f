/** Runs before each file of the project `unit`: proofs by repetition are brief in `npm test`. */

import { repeatLittle } from "../core/testing/src/proof.ts";

if (process.env["SLUICE_PROOF"] !== "full") repeatLittle();
