/** Amounts, money and times as texts. An unknown amount is a dash, never zero. */

import { times } from "./times.ts";
import { once } from "./once.ts";

const NONE = "–";

// A formatter costs milliseconds to make: each is made when it is first used, not at the start.
const numbers = (options: Intl.NumberFormatOptions) =>
  once(() => new Intl.NumberFormat("en-US", options));

const whole = numbers({ maximumFractionDigits: 0 });
const short = numbers({ notation: "compact", maximumFractionDigits: 1 });
const cents = numbers({ style: "currency", currency: "USD" });
const time = times({ dateStyle: "medium", timeStyle: "medium" });
const day = times({ day: "numeric", month: "short" });
const clock = times({ timeStyle: "medium" });

/** `12,004` */
export function count(amount: number | null | undefined): string {
  return amount === null || amount === undefined ? NONE : whole().format(amount);
}

/** `12.4K` */
export function compact(amount: number | null | undefined): string {
  if (amount === null || amount === undefined) return NONE;
  return Math.abs(amount) < 10_000 ? whole().format(amount) : short().format(amount);
}

/** A rate: `0.25`, `3.4`, `120`, `12.4K`. */
export function rate(amount: number | null | undefined): string {
  if (amount === null || amount === undefined) return NONE;
  return amount < 100 ? String(Number(amount.toFixed(amount < 10 ? 2 : 1))) : compact(amount);
}

/** US dollars: whole cents, or as many digits as a small amount needs. */
export function money(dollars: number | null | undefined): string {
  if (dollars === null || dollars === undefined) return NONE;
  const size = Math.abs(dollars);
  if (size === 0) return "$0";
  if (size >= 0.01) return cents().format(dollars);
  const digits = Math.min(9, 1 - Math.floor(Math.log10(size)));
  return `${dollars < 0 ? "-" : ""}$${size.toFixed(digits)}`;
}

/** `0.8 ms`, `230 ms`, `12.4 s` */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return NONE;
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  return span(ms);
}

/** `3 d 4 h`, `12 min`, `40 s` */
export function span(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = Math.floor(hours / 24);
  return days >= 10 || hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`;
}

/** `3 min ago`, `in 4 d` */
export function fromNow(at: string | number, nowMs = Date.now()): string {
  const ms = new Date(at).getTime() - nowMs;
  if (Math.abs(ms) < 5_000) return "now";
  return ms < 0 ? `${span(-ms)} ago` : `in ${span(ms)}`;
}

/** The time of day with its seconds, and the day before it where that is not today. */
export function atMoment(at: string | number, nowMs = Date.now()): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date(nowMs).toDateString();
  return isToday ? clock().format(date) : `${day().format(date)}, ${clock().format(date)}`;
}

/** A time in the browser's zone: `3 Dec 2026, 14:02:11`. */
export function atTime(at: string | number): string {
  return time().format(new Date(at));
}

/** The time of the day in the browser's zone. */
export function atClock(at: string | number): string {
  return clock().format(new Date(at));
}

/** `12.4 MB` */
export function bytes(amount: number | null | undefined): string {
  if (amount === null || amount === undefined) return NONE;
  const units = ["B", "KB", "MB", "GB", "TB"];
  let size = amount;
  let unit = 0;
  while (size >= 1_024 && unit < units.length - 1) {
    size /= 1_024;
    unit += 1;
  }
  return `${size < 10 && unit > 0 ? size.toFixed(1) : Math.round(size)} ${units[unit]}`;
}

/** `4.2 %` of a share from 0 to 1. */
export function share(of: number | null | undefined): string {
  if (of === null || of === undefined || !Number.isFinite(of)) return NONE;
  const percent = of * 100;
  if (percent === 0 || percent >= 10) return `${Math.round(percent)} %`;
  return `${Number(percent.toFixed(percent < 1 ? 2 : 1))} %`;
}
