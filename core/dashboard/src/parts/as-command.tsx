/** What a form does, as a request of curl and as a line of the command `sluice`. */

import { Command } from "./copy.tsx";

/** A change: its route, and the line of the command line where there is one. */
export interface Doing {
  readonly method?: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly body?: object;
  /** `["keys", "create", "--alias", "laptop"]` */
  readonly sluice?: readonly string[];
}

/** Both lines, folded away until they are wanted. */
export function AsCommand({ doing }: { readonly doing: Doing }) {
  const { sluice } = doing;
  return (
    <details>
      <summary>As a command</summary>
      <div class="stack-s">
        {sluice !== undefined && (
          <Command
            label="sluice"
            text={["sluice", ...sluice].map((word) => shellWord(word)).join(" ")}
          />
        )}
        <Command label="curl" text={curlOf(doing, adminUrl())} />
      </div>
    </details>
  );
}

/** The address of the admin listener, as this page sees it. */
export function adminUrl(): string {
  return new URL("..", document.baseURI).href.replace(/\/$/, "");
}

/** The request as a line of curl. The key stays a variable. */
export function curlOf({ method = "POST", path, body }: Doing, base: string): string {
  const lines = [
    `curl ${method === "POST" ? "" : `-X ${method} `}${shellWord(`${base}${path}`)}`,
    `  -H "Authorization: Bearer $SLUICE_MASTER_KEY"`,
    ...(body === undefined
      ? []
      : [`  -H "Content-Type: application/json"`, `  -d ${shellWord(JSON.stringify(body))}`]),
  ];
  return lines.join(" \\\n");
}

/** A word of a POSIX shell, with quotes where it needs them. */
export function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
