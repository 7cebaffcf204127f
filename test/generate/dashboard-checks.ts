/**
 * Writes docs/dashboard/checks.md from the titles of the tests: `node
 * test/generate/dashboard-checks.ts`. A title that begins with `check 5:` is a test of that check;
 * `checks 8 and 10:` is one of both.
 */

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

/** Where the page is. */
export const CHECKS_PAGE = join(ROOT, "docs/dashboard/checks.md");

/** What each check holds, by its number. */
export const CHECKS: readonly string[] = [
  "A first key: sign in by `sluice ui`, create a key, copy it, call chat with it. The key is in the page once, and nowhere after its dialog closed",
  "Wrong, missing and plain keys have one answer. A code opens one session, within a minute, from its own address. Tries are limited",
  "Every admin route × every form of a credential × every role: the statuses that the definitions say",
  "The listener answers to its own names. The public listener ignores the cookie",
  "Texts of clients, models and upstreams are shown as text, and load and run nothing",
  "The headers of `/ui/`, word for word; no inline script or style",
  "The content security policy and Trusted Types report nothing on any screen",
  "axe-core finds no violation of WCAG 2.2 A and AA, in both themes",
  "Everything with the keyboard alone: the focus is seen, stays in dialogs and returns",
  "320 pixels wide, forced colours, reduced motion: nothing scrolls sideways but tables",
  "Each chart has a table with its numbers. Lines differ by more than colour, and have the contrast of 3:1",
  "10,000 and 1,000,000 keys: one request a step, 64 KB, 200 rows in the page",
  "1,000,000 rows: one request for Requests and for Spend of 90 days",
  "The Overview under load shows the numbers of `/metrics`, and costs the traffic nothing",
  "A gateway that is away, slow or failing: the page says so, keeps what was typed, and sends a form once",
  "An edit with a finding, a failing test, a danger or a conflict: shown at its line, and applied by no surprise",
  "Two people change the same file or record: no field is lost",
  "Effects, traces and budgets show what the routes and the commands answer, field for field",
  "Behind a proxy with a prefix, behind TLS, by name and by number: every screen and every asset",
  "An older and a newer gateway: screens that are off say so",
  "The weight of scripts, styles and the package",
  "LCP, CLS and INP of every screen on a slow processor",
  "Without the package the gateway serves, and `/ui/` says what to do",
  "A stream of the playground that is cut stops, is explained, and its row has the cost",
  "Back, forward, a reload, a copied link and a tab that slept show the same view",
  "Screenshots of every screen, in both themes and in a narrow window",
];

/** A test of checks. */
export interface CheckTest {
  readonly checks: readonly number[];
  /** From the root of the repository. */
  readonly file: string;
  readonly title: string;
}

const TESTS = ["test/dashboard/**/*.ts", "test/system/**/*.ts", "test/soak/dashboard/**/*.ts"];
const TITLE = /(["'`])(checks? (\d+)((?:, \d+)*)(?: and (\d+))?: (?:(?!\1).)+)\1/g;

/** All tests whose titles name a check. */
export function checkTests(): readonly CheckTest[] {
  const files = globSync(TESTS, { cwd: ROOT }).sort();
  return files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), "utf8").matchAll(TITLE)].map(
      ([, , title = "", first = "", more = "", last]) => ({
        checks: [first, ...(more.match(/\d+/g) ?? []), ...(last === undefined ? [] : [last])].map(
          Number,
        ),
        file,
        title,
      }),
    ),
  );
}

/** The text of the page. */
export function checksPage(): string {
  const tests = checkTests();
  const rows = CHECKS.map((what, index) => {
    const own = tests.filter(({ checks }) => checks.includes(index + 1));
    const files = [...new Set(own.map(({ file }) => file))];
    const links = files.map((file) => `[${file.replace("test/", "")}](../../${file})`);
    return `| ${index + 1} | ${what} | ${links.join(", ") || "none"} |`;
  });
  return `# Acceptance checks of the dashboard

<!-- Made by \`node test/generate/dashboard-checks.ts\` from the titles of the tests. Do not edit. -->

The title of a test begins with the number of its check: \`npx vitest run --project dashboard -t "check 9"\`. Figures are measured by
\`npm run proof:dashboard\`.

| Check | What holds | Tests |
|---|---|---|
${rows.join("\n")}
`;
}

if (import.meta.main) writeFileSync(CHECKS_PAGE, checksPage());
