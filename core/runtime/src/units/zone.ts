/** Time zones: local times by the names of the IANA database. */

/**
 * The time at which a zone's clocks show a local time, given as if it were UTC. The zone's offset
 * may change on that day, so it is read twice.
 */
export function fromLocal(localMs: number, timeZone: string): number {
  const guessMs = localMs - offsetMs(localMs, timeZone);
  return localMs - offsetMs(guessMs, timeZone);
}

const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * Milliseconds that a zone's clocks are ahead of UTC at a time. Throws a RangeError for an unknown
 * zone.
 */
export function offsetMs(atMs: number, timeZone: string): number {
  if (timeZone === "UTC") return 0;
  let format = formats.get(timeZone);
  if (format === undefined) {
    const all = "numeric";
    const parts = { year: all, month: all, day: all, hour: all, minute: all, second: all } as const;
    formats.set(
      timeZone,
      (format = new Intl.DateTimeFormat("en-US", { ...parts, timeZone, hourCycle: "h23" })),
    );
  }
  const shown = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
  const of = (type: Intl.DateTimeFormatPartTypes): number => shown.get(type) ?? 0;
  const localMs = Date.UTC(
    of("year"),
    of("month") - 1,
    of("day"),
    of("hour"),
    of("minute"),
    of("second"),
  );
  return localMs - Math.floor(atMs / 1000) * 1000;
}
