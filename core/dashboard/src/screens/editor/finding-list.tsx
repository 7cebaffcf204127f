/** Findings of the drafts. Each leads to its line. */

import type { Finding } from "../../api/config.ts";
import { Panel } from "../../parts/page.tsx";

/** The panel. Nothing is shown while nothing is found. */
export function FindingList(props: {
  readonly findings: readonly Finding[];
  readonly onOpen: (file: string, line: number) => void;
}) {
  const { findings, onOpen } = props;
  if (findings.length === 0) return null;
  return (
    <Panel title="Findings" isFlush>
      <ul class="findings">
        {findings.map((finding) => (
          <li key={`${finding.text}`}>
            <button type="button" onClick={() => onOpen(finding.file, finding.line)}>
              <code>
                {finding.file}:{finding.line}
              </code>
              <span>
                {finding.message}
                <span class="muted"> {finding.fix}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
