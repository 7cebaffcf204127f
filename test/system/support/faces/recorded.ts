/** Replies of providers as their packages' fixtures have them, by the model that gives them. */

import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** One recorded reply. */
export interface Recorded {
  /** Package, folder and name. */
  readonly name: string;
  /** The provider whose API it is. */
  readonly provider: "openai" | "anthropic" | "gemini" | "bedrock";
  readonly isStream: boolean;
  readonly type: string;
  readonly body: Buffer;
}

const PLUGINS = new URL("../../../../plugins/", import.meta.url).pathname;
const FOLDERS = {
  openai: "provider-openai/fixtures",
  anthropic: "provider-anthropic/fixtures",
  gemini: "provider-google/fixtures/gemini",
  bedrock: "provider-bedrock/fixtures",
} as const;
/** Replies that are failures, streams with a mark of another API, tables of other operations, and replies without an answer to chat. */
const OTHERS =
  /broken|error|cut|blocked|done-mark|embed|image|token|count|media|reply-(?:unknown-fields|refused)/;

/** The chat replies that are no failures. */
export function recordedReplies(): readonly Recorded[] {
  return Object.entries(FOLDERS).flatMap(([provider, folder]) => {
    const root = join(PLUGINS, folder);
    return [...streamsIn(root), ...wholesIn(root)]
      .filter(({ name }) => !OTHERS.test(name))
      .map((each) => ({ ...each, provider: provider as Recorded["provider"] }));
  });
}

function streamsIn(root: string): readonly Omit<Recorded, "provider">[] {
  return globSync("**/*.{sse,bin}", { cwd: root })
    .toSorted()
    .map((path) => ({
      name: path,
      isStream: true,
      type: path.endsWith(".sse") ? "text/event-stream" : "application/vnd.amazon.eventstream",
      body: readFileSync(join(root, path)),
    }));
}

interface Table {
  readonly cases: readonly {
    readonly name: string;
    readonly given: unknown;
    readonly expected: object;
  }[];
}

/** Cases whose input is a whole reply and whose result is one too. */
function wholesIn(root: string): readonly Omit<Recorded, "provider">[] {
  return globSync("**/*.cases.json", { cwd: root })
    .toSorted()
    .flatMap((path) => {
      const { cases } = JSON.parse(readFileSync(join(root, path), "utf8")) as Table;
      return cases
        .filter(
          ({ name, given, expected }) =>
            name.startsWith("reply") && given !== undefined && "reply" in expected,
        )
        .map(({ name, given }) => ({
          name: join(dirname(path), basename(path, ".cases.json"), name),
          isStream: false,
          type: "application/json",
          body: Buffer.from(JSON.stringify(given)),
        }));
    });
}
