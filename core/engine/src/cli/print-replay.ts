/** Prints a replay: how many of the newest requests would fare otherwise, and why. */

/** A replay as the admin listener tells it. */
export type PrintedReplay = { readonly evaluated: number } & Readonly<Record<Exclude<string, "evaluated">, Tally | number>>;

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
  ["unfit", "ask a model for what it is said not to do"],
];

const SHOWN_GROUPS = 5;

/** Prints it. */
export function printReplay(replay: PrintedReplay): void {
  const { evaluated } = replay;
  if (evaluated === 0) {
    console.log("replay: no request has been seen since the start");
    return;
  }
  let isSame = true;
  for (const [name, sentence] of SENTENCES) {
    const tally = replay[name];
    if (typeof tally !== "object" || tally.count === 0) continue;
    isSame = false;
    console.log(`replay: ${tally.count} of ${evaluated} ${sentence}`);
    for (const { what, count } of tally.groups.slice(0, SHOWN_GROUPS)) console.log(`  ${String(count).padStart(6)}  ${what}`);
    if (tally.groups.length > SHOWN_GROUPS)
      console.log(`          and ${tally.groups.length - SHOWN_GROUPS} more reasons (--json)`);
  }
  if (isSame) console.log(`replay: ${evaluated} of ${evaluated} fare as before`);
}
