/** Requests of the playground: their rows have a tag. */

import { defineSlot } from "@sluice/kit";

/** Set where the request comes from the playground. */
export const PLAYED = defineSlot<true>("played");

/** The tag of their rows. It is no tag of the request: it selects no target and has no budget. */
export const PLAYED_TAG = "playground";
