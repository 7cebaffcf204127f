/** Prints a replay: how many of the newest requests would fare otherwise, and why. */

/** A replay as the admin listener tells it. */
export interface PrintedReplay {
  readonly evaluated: number;
  readonly spend: PrintedSpend;
  readonly [tally: string]: Tally | PrintedSpend | number;
}

/** Costs in US dollars. */
interface PrintedSpend {
  readonly requests: number;
  readonly did_cost: number;
  readonly would_cost: { readonly least: number; readonly most: number };
  readonly refused: number;
  readonly unknown: number;
}

interface Tally {
  readonly count: number;
  readonly groups: readonly { readonly what: string; readonly count: number }[];
}

/** What is said of each tally, in the order of weight. */
const SENTENCES: readonly (readonly [name: string, sentence: string])[] = [
  ["blocked", "would now be blocked"],
  ["admitted", "would now be admitted"],
  ["provider", "change provider"],
  ["model", "change the model at their provider"],
  ["steps", "run through other steps"],
  ["unfit", "are longer than their model accepts"],
];

const SHOWN_GROUPS = 5;

/** Prints a replay. */
export function printReplay(replay: PrintedReplay): void {
  const { evaluated } = replay;
  if (evaluated === 0) {
    console.log("replay: the ledger holds no request");
    return;
  }
  let isSame = true;
  for (const [name, sentence] of SENTENCES) {
    const tally = replay[name];
    if (typeof tally !== "object" || !("count" in tally) || tally.count === 0) continue;
    isSame = false;
    console.log(`replay: ${tally.count} of ${evaluated} ${sentence}`);
    for (const { what, count } of tally.groups.slice(0, SHOWN_GROUPS))
      console.log(`  ${String(count).padStart(6)}  ${what}`);
    if (tally.groups.length > SHOWN_GROUPS)
      console.log(`          and ${tally.groups.length - SHOWN_GROUPS} more reasons (--json)`);
  }
  if (isSame) {
    console.log(
      `replay: ${evaluated} of ${evaluated} are let in and routed as before; no upstream was called, so one that does not answer is not found`,
    );
  }
  printSpend(replay.spend);
}

function printSpend({
  requests,
  did_cost: did,
  would_cost: would,
  refused,
  unknown,
}: PrintedSpend): void {
  if (requests > 0) {
    const range =
      would.least === would.most ? usd(would.most) : `${usd(would.least)} to ${usd(would.most)}`;
    const change =
      did === 0
        ? ""
        : ` (${[...new Set([would.least, would.most].map((cost) => percent(cost / did - 1)))].join(" to ")})`;
    console.log(
      `spend: ${requests} requests did cost ${usd(did)} and would cost ${range} US dollars${change}`,
    );
  }
  if (refused > 0)
    console.log(`spend: ${usd(refused)} of it went into requests that would be blocked`);
  if (unknown > 0)
    console.log(`spend: ${unknown} requests are not in it: what they did or would cost is unknown`);
}

function usd(dollars: number): string {
  return dollars.toLocaleString("en-US", { maximumSignificantDigits: 4, useGrouping: false });
}

function percent(share: number): string {
  const value = Math.round(share * 100);
  return value === 0 ? "the same" : `${value > 0 ? "+" : ""}${value}%`;
}
