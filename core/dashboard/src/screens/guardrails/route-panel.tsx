/** One route: each guardrail, enforced and in shadow, with the requests that it means. */

import type { GuardrailReport, JudgedRoute } from "../../api/guardrails.ts";
import { href } from "../../app/route.ts";
import { count, share } from "../../parts/format.ts";
import { Mark } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { PlaceText } from "../../records/place.tsx";

type Line = JudgedRoute["guardrails"][number];
type Declared = GuardrailReport["guardrails"][number];

/** The panel. */
export function RoutePanel(props: {
  readonly route: JudgedRoute;
  readonly guardrails: readonly Declared[];
}) {
  const { route, guardrails } = props;
  const checked = (
    <span class="muted num">
      {count(route.requests)} {route.requests === 1 ? "request" : "requests"} checked
    </span>
  );
  return (
    <Panel title={route.route} isFlush end={checked}>
      <Table
        caption={`Guardrails of ${route.route}`}
        columns={columnsOf(route, guardrails)}
        rows={route.guardrails}
        keyOf={({ guardrail, direction, mode }) => `${guardrail} ${direction} ${mode}`}
        empty={<Empty icon="check" title="Nothing was blocked or edited" />}
      />
    </Panel>
  );
}

function columnsOf(route: JudgedRoute, guardrails: readonly Declared[]): readonly Column<Line>[] {
  return [
    {
      name: "guardrail",
      title: "Guardrail",
      isHead: true,
      cell: ({ guardrail }) => (
        <a href={href(["requests"], { guardrail })} title="The requests of which it has a verdict">
          {guardrail}
        </a>
      ),
    },
    {
      name: "direction",
      title: "Checks",
      cell: ({ direction }) => (direction === "input" ? "requests" : "replies"),
    },
    { name: "mode", title: "Mode", cell: ({ mode }) => <ModeMark mode={mode} /> },
    {
      name: "blocked",
      title: "Blocked",
      cell: (line) => <Blocked line={line} of={route.requests} />,
    },
    { name: "edited", title: "Edited", isNumber: true, cell: (line) => count(line.requests.edit) },
    { name: "errors", title: "Failed", isNumber: true, cell: (line) => count(line.requests.error) },
    {
      name: "word",
      title: "To enforce it",
      cell: (line) => <Word line={line} guardrails={guardrails} />,
    },
  ];
}

function ModeMark({ mode }: Pick<Line, "mode">) {
  if (mode === "enforce") return <Mark tone="good">enforced</Mark>;
  return (
    <Mark
      tone="warn"
      title={mode === "shadow" ? "It changes nothing." : "A hedged or cached reply was watched."}
    >
      {mode}
    </Mark>
  );
}

/** `would have blocked 41 of 12,004` */
function Blocked({ line, of }: { readonly line: Line; readonly of: number }) {
  const blocked = line.requests.block + line.requests.ask_again;
  const words = line.mode === "enforce" ? "blocked" : "would have blocked";
  return (
    <span class="num">
      {blocked === 0 ? (
        <span class="muted">nothing</span>
      ) : (
        <>
          {words} {count(blocked)} of {count(of)}{" "}
          <span class="muted">({share(of === 0 ? null : blocked / of)})</span>
        </>
      )}
    </span>
  );
}

/** The word to delete, where the guardrail is still in shadow. */
function Word({ line, guardrails }: { line: Line; guardrails: readonly Declared[] }) {
  const declared = guardrails.find(({ guardrail }) => guardrail === line.guardrail);
  if (declared === undefined) return <span class="muted">no longer configured</span>;
  if (line.mode !== "shadow") return <span class="muted">–</span>;
  if (declared.word === null) return <span class="muted">is enforced now</span>;
  return (
    <span class="row nowrap">
      delete <code>{declared.word}</code> in <PlaceText at={declared.declared_in} />
    </span>
  );
}
