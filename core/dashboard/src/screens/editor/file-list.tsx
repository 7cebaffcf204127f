/** The files of the configuration, with what is changed and found in each. */

import type { Finding } from "../../api/config.ts";
import { Icon } from "../../parts/icon.tsx";
import { Mark } from "../../parts/marks.tsx";

/** The list. Files of a folder stand together. */
export function FileList(props: {
  readonly names: readonly string[];
  readonly shown: string;
  readonly changed: readonly string[];
  readonly findings: readonly Finding[];
  readonly onOpen: (file: string) => void;
}) {
  const { names, shown, changed, findings, onOpen } = props;
  const folders = [...new Set(names.map(folderOf))];
  return (
    <nav class="files" aria-label="Files">
      {folders.map((folder) => (
        <section key={folder} aria-label={folder}>
          <h2>{folder}</h2>
          <ul>
            {names
              .filter((name) => folderOf(name) === folder)
              .map((name) => {
                const found = findings.filter(({ file }) => file === name).length;
                return (
                  <li key={name}>
                    <button
                      type="button"
                      class="nav-link"
                      aria-current={name === shown ? "page" : undefined}
                      onClick={() => onOpen(name)}
                    >
                      <Icon name="file" />
                      <span>{name.slice(endOfFolder(name) + 1)}</span>
                      {changed.includes(name) && (
                        <span class="dot accent" role="img" aria-label="changed" />
                      )}
                      {found > 0 && <Mark tone="bad">{found}</Mark>}
                    </button>
                  </li>
                );
              })}
          </ul>
        </section>
      ))}
    </nav>
  );
}

function folderOf(name: string): string {
  const at = endOfFolder(name);
  return at < 0 ? "." : name.slice(0, at);
}

/** A file in the store has a name such as `store:gateway.yaml`. */
function endOfFolder(name: string): number {
  return Math.max(name.lastIndexOf("/"), name.indexOf(":"));
}
