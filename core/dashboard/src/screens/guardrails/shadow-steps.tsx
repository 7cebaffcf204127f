/** Steps in shadow: what whole steps would have done, since their generation began. */

import type { GuardrailReport } from "../../api/guardrails.ts";
import { count } from "../../parts/format.ts";
import { Panel } from "../../parts/page.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { PlaceText } from "../../records/place.tsx";

type Step = GuardrailReport["steps"][number];

const COLUMNS: readonly Column<Step>[] = [
  {
    name: "step",
    title: "Step",
    isHead: true,
    cell: ({ pipeline, step }) => (
      <span class="main-cell">
        <span>{step}</span>
        <small>{pipeline}</small>
      </span>
    ),
  },
  {
    name: "refused",
    title: "Refused",
    cell: ({ refused, runs }) => (
      <span class="num">
        would have refused {count(refused)} of {count(runs)}
      </span>
    ),
  },
  { name: "changed", title: "Changed", isNumber: true, cell: ({ changed }) => count(changed) },
  { name: "answered", title: "Answered", isNumber: true, cell: ({ answered }) => count(answered) },
  { name: "failed", title: "Failed", isNumber: true, cell: ({ failed }) => count(failed) },
  {
    name: "word",
    title: "To enforce it",
    cell: ({ word, declared_in: place }) => (
      <span class="row nowrap">
        delete <code>{word}</code> in <PlaceText at={place} />
      </span>
    ),
  },
];

/** The panel. */
export function ShadowSteps({ steps }: { readonly steps: readonly Step[] }) {
  return (
    <Panel
      title="Steps in shadow"
      isFlush
      end={<span class="muted">since the generation began</span>}
    >
      <Table
        caption="Steps in shadow"
        columns={COLUMNS}
        rows={steps}
        keyOf={({ pipeline, declared_in: place }) => `${pipeline} ${place}`}
      />
    </Panel>
  );
}
