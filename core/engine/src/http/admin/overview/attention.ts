/** What needs an operator, each with its next step. */

import type { DeploymentView, WatchedBudget } from "@sluice/contract";
import type { LedgerHealth } from "../../../accounting/ledger/ledger.ts";
import type { ConfigEdits } from "../../../generation/rollout/edits.ts";

/** One thing. `key` is the same for the same thing in several workers. */
export interface Attention {
  readonly key: string;
  readonly risk: "danger" | "caution";
  readonly text: string;
  /** What to do about it. */
  readonly next: string;
  /** The screen of the dashboard that shows it. */
  readonly screen: "history" | "models" | "keys" | "system";
}

/** What is looked at. */
export interface AttentionParts {
  readonly edits: Pick<ConfigEdits, "status">;
  readonly views: readonly DeploymentView[];
  readonly budgets: readonly WatchedBudget[];
  readonly ledgerHealth: () => LedgerHealth;
  readonly waitingForRestart: () => readonly string[];
  readonly isStateAway: () => boolean | undefined;
  readonly nowMs: number;
}

/** Older generations that serve for longer than this are worth a look. */
const LONG_DRAIN_MS = 300_000;
/** Rows that wait for the store for longer than this are worth a look. */
const LONG_LAG_MS = 60_000;

/** Everything, what is dangerous first. */
export function attentionOf(parts: AttentionParts): readonly Attention[] {
  const all = [...ofConfig(parts), ...ofStorage(parts), ...ofTargets(parts), ...ofBudgets(parts)];
  return all.sort((a, b) => Number(b.risk === "danger") - Number(a.risk === "danger"));
}

function* ofConfig({ edits, waitingForRestart }: AttentionParts): Generator<Attention> {
  const { lastAttempt, drift, canary, draining } = edits.status;
  if (lastAttempt?.outcome === "refused")
    yield {
      key: "refused_edit",
      risk: "danger",
      text: `The last edit was refused: ${counted(lastAttempt.findings.length, "finding")}. The configuration before it runs.`,
      next: "Correct the files: `sluice status` shows file, line and fix.",
      screen: "history",
    };
  else if (drift.length > 0)
    yield {
      key: "drift",
      risk: "caution",
      text: `${counted(drift.length, "file")} on disk differ from what runs.`,
      next: "`sluice diff` shows the effects, `sluice reload` applies the files.",
      screen: "history",
    };
  if (canary !== undefined)
    yield {
      key: "canary",
      risk: "caution",
      text: `Generation ${canary.generation.number} is a canary for a share of the keys.`,
      next: "`sluice canary promote` or `abort` ends it before its time.",
      screen: "history",
    };
  const old = draining.filter(({ oldestLeaseMs }) => oldestLeaseMs > LONG_DRAIN_MS);
  if (old.length > 0)
    yield {
      key: "draining",
      risk: "caution",
      text: `Generation ${old[0]?.number} still finishes requests.`,
      next: "Long streams keep it. It ends with the last of them.",
      screen: "history",
    };
  const files = waitingForRestart();
  if (files.length > 0)
    yield {
      key: "restart",
      risk: "caution",
      text: `${counted(files.length, "file")} of plugins changed after the start.`,
      next: "`sluice restart` loads them.",
      screen: "system",
    };
}

function* ofStorage({ ledgerHealth, isStateAway }: AttentionParts): Generator<Attention> {
  const { fault, isStoreFailing, lagMs } = ledgerHealth();
  if (fault !== undefined)
    yield {
      key: "ledger",
      risk: "danger",
      text: `Spend rows cannot be stored, so requests are refused: ${fault.text}`,
      next: "Repair the place that the text names.",
      screen: "system",
    };
  else if (isStoreFailing || lagMs > LONG_LAG_MS)
    yield {
      key: "store",
      risk: "danger",
      text: "The store does not take spend rows. They wait in the outbox.",
      next: "Look at the store. The rows follow by themselves.",
      screen: "system",
    };
  if (isStateAway() === true)
    yield {
      key: "shared_state",
      risk: "danger",
      text: "The shared state cannot be reached.",
      next: "Look at Redis. `shared.on_error` says what happens to requests meanwhile.",
      screen: "system",
    };
}

function* ofTargets({ views }: AttentionParts): Generator<Attention> {
  for (const { provider } of distinct(views.filter((view) => view.isCredentialRefused)))
    yield {
      key: `credential:${provider}`,
      risk: "danger",
      text: `The provider ${provider} refuses the gateway's credential.`,
      next: "Renew the credential that the provider names in gateway.yaml.",
      screen: "models",
    };
  const ejected = views.filter((view) => view.breaker === "open" && !view.isCredentialRefused);
  for (const { id } of ejected.slice(0, 5))
    yield {
      key: `ejected:${id}`,
      risk: "caution",
      text: `The deployment ${id} is ejected.`,
      next: "Its page shows the reasons. It is tried again by itself.",
      screen: "models",
    };
  for (const { id, heldUntilMs } of views)
    if (heldUntilMs !== undefined)
      yield {
        key: `held:${id}`,
        risk: "caution",
        text: `The deployment ${id} is held until ${new Date(heldUntilMs).toISOString()}.`,
        next: "`release` on its page ends that before.",
        screen: "models",
      };
}

function* ofBudgets({ budgets }: AttentionParts): Generator<Attention> {
  const spent = budgets.filter(({ usedNanoUsd, limitNanoUsd }) => usedNanoUsd >= limitNanoUsd);
  if (spent.length > 0)
    yield {
      key: "budgets",
      risk: "caution",
      text: `${counted(spent.length, "budget")} are spent: their requests are refused.`,
      next: "Raise a budget, or wait for its next period.",
      screen: "keys",
    };
}

function distinct(views: readonly DeploymentView[]): readonly DeploymentView[] {
  return [...new Map(views.map((view) => [view.provider, view])).values()];
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
