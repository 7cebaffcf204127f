/** What the doctor finds, when it is asked for. */

import type { AdminAnswer } from "@sluice/admin-api";
import { useState } from "preact/hooks";
import { useRead } from "../../app/live.ts";
import { Button } from "../../parts/button.tsx";
import { Mark, type Tone } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, TablePanel } from "../../parts/table.tsx";

type CheckAnswer = AdminAnswer<"GET /system/checks">;
type Check = CheckAnswer["checks"][number];

const TONES: Readonly<Record<Check["grade"], Tone>> = {
  ok: "good",
  warn: "warn",
  fail: "bad",
  skip: "plain",
};
const WORDS: Readonly<Record<Check["grade"], string>> = {
  ok: "good",
  warn: "look at it",
  fail: "failed",
  skip: "not looked at",
};

const COLUMNS: readonly Column<Check>[] = [
  { name: "name", title: "What", isHead: true, cell: ({ name }) => name },
  {
    name: "grade",
    title: "Result",
    cell: ({ grade }) => <Mark tone={TONES[grade]}>{WORDS[grade]}</Mark>,
  },
  {
    name: "found",
    title: "Found",
    cell: ({ found, fix }) => (
      <div class="wrap">
        {found}
        {fix !== null && <p class="muted">{fix}</p>}
      </div>
    ),
  },
];

/** The panel. Nothing is looked at before a button is pressed. */
export function Checks() {
  const [isOnline, setOnline] = useState<boolean>();
  const { data, error, isFetching, refetch } = useRead<CheckAnswer>(
    "/system/checks",
    isOnline === true ? { online: true } : {},
    { enabled: isOnline !== undefined },
  );
  const look = (online: boolean): void => {
    if (isOnline === online) void refetch();
    else setOnline(online);
  };
  const actions = (
    <>
      <Button isBusy={isFetching && isOnline === false} onClick={() => look(false)}>
        Look now
      </Button>
      <Button isBusy={isFetching && isOnline === true} onClick={() => look(true)}>
        Ask the providers too
      </Button>
    </>
  );
  if (isOnline === undefined)
    return (
      <Panel title="Checks" isFlush end={actions}>
        <Empty icon="system" title="Machine, data folder, store, shared state, providers">
          <code>sluice doctor</code> looks at the same. Providers are asked for their models, which
          is free.
        </Empty>
      </Panel>
    );
  return (
    <TablePanel
      title="Checks"
      end={actions}
      columns={COLUMNS}
      rows={data?.checks}
      keyOf={({ name, found }) => `${name} ${found}`}
      error={error}
      onRetry={() => void refetch()}
    />
  );
}
