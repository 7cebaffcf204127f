/** Forms of times. */

import { once } from "./once.ts";

/** A formatter of times, made when it is first used. */
export const times = (options: Intl.DateTimeFormatOptions): (() => Intl.DateTimeFormat) =>
  once(() => new Intl.DateTimeFormat("en-GB", options));
