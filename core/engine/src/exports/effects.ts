/**
 * @sluice/engine/effects: the text and the summary of what an edit widens or narrows. `effectsOf`
 * of `./check` finds the effects.
 */

export { formatEffect, RISKS, summaryOf } from "../generation/diff/effects/effect.ts";
