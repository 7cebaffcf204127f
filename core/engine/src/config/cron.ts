/** Parses cron expressions of five fields, as in crontab(5), and matches minutes. */

/** The minutes of an expression. Each field lists what it allows. */
export interface Cron {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: readonly number[];
  readonly months: readonly number[];
  /** 0 is Sunday. */
  readonly weekdays: readonly number[];
  /** Both the day of the month and that of the week are named: then either is enough. */
  readonly isEitherDay: boolean;
}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const FIELDS: readonly [Field, Field, Field, Field, Field] = [
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day of the month", min: 1, max: 31 },
  { name: "month", min: 1, max: 12, names: MONTHS },
  { name: "day of the week", min: 0, max: 7, names: WEEKDAYS },
];

/** Reads an expression. Throws an Error that names the wrong field. */
export function parseCron(text: string): Cron {
  const parts = text.trim().split(/\s+/);
  if (parts.length !== FIELDS.length)
    throw new Error(`it has ${parts.length} fields, not ${FIELDS.length}`);
  const [minutes, hours, days, months, weekdays] = FIELDS.map((field, index) =>
    valuesOf(parts[index] ?? "", field),
  );
  return {
    minutes: minutes ?? [],
    hours: hours ?? [],
    days: days ?? [],
    months: months ?? [],
    weekdays: [...new Set((weekdays ?? []).map((day) => day % 7))],
    isEitherDay: !parts[2]?.startsWith("*") && !parts[4]?.startsWith("*"),
  };
}

/**
 * Whether an expression includes a minute. `local` is the time that the zone's clocks show, written
 * as if it were UTC.
 */
export function matchesCron(cron: Cron, local: Date): boolean {
  const isDay = cron.days.includes(local.getUTCDate());
  const isWeekday = cron.weekdays.includes(local.getUTCDay());
  return (
    cron.minutes.includes(local.getUTCMinutes()) &&
    cron.hours.includes(local.getUTCHours()) &&
    cron.months.includes(local.getUTCMonth() + 1) &&
    (cron.isEitherDay ? isDay || isWeekday : isDay && isWeekday)
  );
}

function valuesOf(text: string, field: Field): number[] {
  const values = new Set<number>();
  for (const part of text.split(",")) {
    const [, range = "", step] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    const every = step === undefined ? 1 : Number(step);
    const [from, to] = rangeOf(range, field, step !== undefined);
    if (from === undefined || to === undefined || from > to || every === 0) {
      throw new Error(
        `its ${field.name} is ${JSON.stringify(text)}, outside ${field.min} to ${field.max}`,
      );
    }
    for (let value = from; value <= to; value += every) values.add(value);
  }
  return [...values];
}

function rangeOf(text: string, field: Field, hasStep: boolean): readonly (number | undefined)[] {
  if (text === "*") return [field.min, field.max];
  const [first = "", last] = text.split("-", 2);
  const from = numberOf(first, field);
  if (last === undefined) return [from, hasStep ? field.max : from];
  return [from, numberOf(last, field)];
}

function numberOf(text: string, { min, max, names }: Field): number | undefined {
  const named = names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return named + min;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}
