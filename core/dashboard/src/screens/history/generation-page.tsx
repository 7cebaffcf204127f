/** One generation: its effects, and the lines that it changed. */

import { useState } from "preact/hooks";
import type { ConfigHistory, Generation } from "../../api/config.ts";
import { useRead } from "../../app/live.ts";
import { useMay } from "../../app/may.ts";
import { Button } from "../../parts/button.tsx";
import { atTime } from "../../parts/format.ts";
import { Mark } from "../../parts/marks.tsx";
import { Facts, Head, Panel } from "../../parts/page.tsx";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { FilesDiff } from "../../parts/text-diff.tsx";
import { Effects, RiskMark } from "../../records/effects.tsx";
import { RollbackDialog } from "./rollback-dialog.tsx";
import { originText } from "./timeline.tsx";

interface FilesAnswer {
  readonly files: Readonly<Record<string, string>>;
}

/** The page. */
export function GenerationPage({ name }: { readonly name: string }) {
  const number = Number(name);
  const { data, error, refetch } = useRead<ConfigHistory>("/config/history");
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  const parent = ["History", "#/history"] as const;
  const title = `Generation ${name}`;
  if (data === undefined)
    return (
      <>
        <Head title={title} parent={parent} />
        {error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading />}
      </>
    );
  const found = data.generations.find(({ generation }) => generation === number);
  if (found === undefined)
    return (
      <>
        <Head title={title} parent={parent} />
        <Empty icon="history" title="This generation is not kept">
          The gateway keeps the last twenty.
        </Empty>
      </>
    );
  const mayReturn = may("config.rollback") && !found.is_live && found.returned === null;
  const rollback = mayReturn && <Button onClick={() => setOpen(true)}>Roll back to it</Button>;
  return (
    <>
      <Head
        title={title}
        parent={parent}
        marks={
          <>
            {found.is_live && <Mark tone="accent">live</Mark>}
            <RiskMark risk={found.risk} />
          </>
        }
        actions={rollback}
      />
      <Panel title="Effects">
        <div class="stack">
          <Facts rows={factsOf(found)} />
          <Effects effects={found.effects} />
        </div>
      </Panel>
      <Changes number={number} generations={data.generations} />
      {isOpen && <RollbackDialog to={found} onClose={() => setOpen(false)} />}
    </>
  );
}

function factsOf(found: Generation) {
  return [
    ["When", atTime(found.at)],
    ["How", originText(found)],
    ["Why", found.reason ?? undefined],
    ["Returned", found.returned ?? undefined],
    ["Digest", <code>{found.digest}</code>],
  ] as const;
}

/** The lines against the generation before. */
function Changes(props: { readonly number: number; readonly generations: readonly Generation[] }) {
  const { number, generations } = props;
  const before = generations.find(({ generation }) => generation < number)?.generation;
  const isAllowed = useMay()("config.read");
  const own = useRead<FilesAnswer>("/config/files", { of: number }, { enabled: isAllowed });
  const older = useRead<FilesAnswer>(
    "/config/files",
    { of: before },
    { enabled: isAllowed && before !== undefined },
  );
  if (before === undefined)
    return (
      <Panel title="Lines">
        <p class="muted">The generation before it is not kept, so there is nothing to compare.</p>
      </Panel>
    );
  const error = own.error ?? older.error;
  return (
    <Panel title={`Lines, against generation ${before}`}>
      {error ? (
        <Failure error={error} />
      ) : own.data === undefined || older.data === undefined ? (
        <Loading />
      ) : (
        <FilesDiff before={older.data.files} after={own.data.files} />
      )}
    </Panel>
  );
}
