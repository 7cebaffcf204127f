/** Small signs: a state, a time, a bar of a budget. */

import type { ComponentChildren } from "preact";
import { atMoment, atTime, count, fromNow, money } from "./format.ts";
import { Icon, type IconName } from "./icon.tsx";

/** How good or bad something is. */
export type Tone = "good" | "warn" | "bad" | "accent" | "plain";

const TONE_ICONS: Readonly<Record<Tone, IconName | undefined>> = {
  good: "check",
  warn: "warn",
  bad: "fail",
  accent: undefined,
  plain: undefined,
};

/** A state in a word or two. Its icon differs by tone, so the colour is not needed. */
export function Mark(props: {
  readonly tone?: Tone;
  readonly icon?: IconName;
  readonly title?: string | undefined;
  readonly children: ComponentChildren;
}) {
  const { tone = "plain", icon = TONE_ICONS[tone], title, children } = props;
  return (
    <span class={`mark ${tone}`} title={title}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </span>
  );
}

/** A time, as the distance from now. Its title has the time itself. */
export function When({ at }: { readonly at: string | number | null | undefined }) {
  if (at === null || at === undefined) return <span class="muted">–</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={atTime(at)} class="nowrap">
      {fromNow(at)}
    </time>
  );
}

/** The time of one of many things, by the second. Its title has the distance from now. */
export function Moment({ at }: { readonly at: string | number }) {
  return (
    <time
      dateTime={new Date(at).toISOString()}
      title={`${atTime(at)}, ${fromNow(at)}`}
      class="nowrap num"
    >
      {atMoment(at)}
    </time>
  );
}

/** A message with its tone. `isLoud`: a screen reader says it at once. */
export function Notice(props: {
  readonly tone?: Tone;
  readonly isLoud?: boolean;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  const { tone = "plain", isLoud = false, actions, children } = props;
  return (
    <div class={`notice ${tone}`} role={isLoud ? "alert" : undefined}>
      <Icon name={TONE_ICONS[tone] ?? "info"} />
      <div class="body">{children}</div>
      {actions}
    </div>
  );
}

/** Why a change failed, where it did. */
export function Failed({ of }: { readonly of: { readonly message: string } | undefined }) {
  if (of === undefined) return null;
  return (
    <Notice tone="bad" isLoud>
      {of.message}
    </Notice>
  );
}

/** How much of a budget is spent. */
export function BudgetBar(props: {
  readonly spent: number | null | undefined;
  readonly max: number | null | undefined;
  readonly soft?: number | null | undefined;
}) {
  const { spent, max, soft } = props;
  if (spent === null || spent === undefined) {
    if (max === null || max === undefined) return <span class="muted">–</span>;
    return <span class="num">{money(max)}</span>;
  }
  if (max === null || max === undefined) return <span class="num">{money(spent)}</span>;
  const part = max === 0 ? 1 : Math.min(1, spent / max);
  const isOver = spent >= max;
  const isNear = !isOver && (part >= 0.8 || (typeof soft === "number" && spent >= soft));
  const tone = isOver ? "bad" : isNear ? "warn" : "";
  const words = isOver ? "Budget used up" : isNear ? "Near the budget" : undefined;
  return (
    <Meter part={part} tone={tone} words={words} used={money(spent)} of={money(max)}>
      {typeof soft === "number" && max > 0 && soft < max && (
        <div class="soft" style={{ left: `${(soft / max) * 100}%` }} />
      )}
    </Meter>
  );
}

/** How much of a rate is used, in whole requests or tokens. */
export function RateBar(props: {
  readonly used: number;
  readonly max: number;
  /** What is counted. */
  readonly unit: string;
}) {
  const { used, max, unit } = props;
  const part = max === 0 ? 1 : Math.min(1, used / max);
  const tone = used >= max ? "bad" : part >= 0.8 ? "warn" : "";
  const words = used >= max ? "At the limit" : part >= 0.8 ? "Near the limit" : undefined;
  return (
    <Meter part={part} tone={tone} words={words} used={count(used)} of={`${count(max)} ${unit}`} />
  );
}

function Meter(props: {
  /** 0 to 1. */
  readonly part: number;
  readonly tone: string;
  readonly words: string | undefined;
  readonly used: string;
  readonly of: string;
  readonly children?: ComponentChildren;
}) {
  const { part, tone, words, used, of, children } = props;
  return (
    <div class={`meter ${tone}`} title={words}>
      <span>
        {used} <span class="muted">of {of}</span>
        {words !== undefined && <span class="unseen"> {words}</span>}
      </span>
      <div class="track">
        <div class="fill" style={{ width: `${part * 100}%` }} />
        {children}
      </div>
    </div>
  );
}
