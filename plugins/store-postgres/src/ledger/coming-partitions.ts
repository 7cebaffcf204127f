/** The partitions of the coming days. A row that comes before its partition makes it by itself. */

import type { Clock } from "@sluice/contract";
import type { Pool } from "pg";
import { dayOf } from "./days-of-ids.ts";
import { makePartitions } from "./partitions.ts";

const DAYS_AHEAD = 7;

/** Makes those that are missing, from yesterday on. Returns whether all of them exist now. */
export async function makeComingPartitions(
  pool: Pool,
  clock: Pick<Clock, "now">,
): Promise<boolean> {
  const yesterday = dayOf(clock.now()) - 1;
  return makePartitions(
    pool,
    Array.from({ length: DAYS_AHEAD + 2 }, (_, index) => yesterday + index),
  );
}
