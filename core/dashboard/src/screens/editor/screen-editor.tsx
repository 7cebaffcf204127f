/** The editor of the configuration: files, findings as they are typed, and the way to apply. */

import { useEffect, useState } from "preact/hooks";
import type { AdminBody } from "@sluice/admin-api";
import { post } from "../../api/client.ts";
import type { Completed, ConfigFiles, Finding } from "../../api/config.ts";
import type { ScreenProps } from "../../app/screen-props.ts";
import { useCell } from "../../app/cell.ts";
import { useRead } from "../../app/live.ts";
import { useMay } from "../../app/may.ts";
import { useFilters } from "../../app/route.ts";
import { Button } from "../../parts/button.tsx";
import { Mark } from "../../parts/marks.tsx";
import { Head } from "../../parts/page.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { ClashPanel } from "./clash-panel.tsx";
import {
  clashesOf,
  type Drafts,
  draftsCell,
  dropDrafts,
  takeFiles,
  textsOf,
  typeText,
} from "./drafts.ts";
import { EditorView } from "./editor-view.tsx";
import { FileList } from "./file-list.tsx";
import { FindingList } from "./finding-list.tsx";
import { ReviewDialog } from "./review-dialog.tsx";
import { useValidation } from "./use-validation.ts";

/** How often the files are looked at: another edit shows before this one is sent. */
const FILES_MS = 5_000;

/** The screen. */
export default function EditorScreen(_props: ScreenProps) {
  const { data, error, refetch } = useRead<ConfigFiles>(
    "/config/files",
    { of: "files" },
    { isLive: true, everyMs: FILES_MS },
  );
  useEffect(() => {
    if (data !== undefined) takeFiles(data);
  }, [data]);
  const { base } = useCell(draftsCell);
  if (base !== undefined && data !== undefined) return <Editor {...data} />;
  return (
    <>
      <Head title="Editor" />
      {error ? <Failure error={error} onRetry={() => void refetch()} /> : <Loading lines={8} />}
    </>
  );
}

function Editor({ editor, source, reload }: Pick<ConfigFiles, "editor" | "source" | "reload">) {
  const drafts = useCell(draftsCell);
  const mayPreview = useMay()("config.preview");
  const [{ file, line }, setFilters] = useFilters(["file", "line"]);
  const [isReviewing, setReviewing] = useState(false);
  const validated = useValidation(drafts.typed, mayPreview);
  const texts = textsOf(drafts);
  const names = Object.keys(texts).sort();
  const shown = texts[file] === undefined ? (names[0] ?? "") : file;
  const findings = validated.answer?.findings ?? [];
  const changed = Object.keys(drafts.typed);
  const clashes = clashesOf(drafts);
  const goTo = (to: string, at?: number): void =>
    setFilters({ file: to, line: at === undefined ? "" : String(at) });
  return (
    <>
      <Head
        title="Editor"
        lead={`The configuration is in ${source === "store" ? "the store, for all instances" : "these files"}. What you type is checked by the gateway and changes nothing until you apply it.`}
        marks={<State changed={changed} findings={findings.length} isAsking={validated.isAsking} />}
        actions={
          mayPreview && (
            <Actions
              isChanged={changed.length > 0}
              isClash={clashes.length > 0}
              onReview={() => setReviewing(true)}
            />
          )
        }
      />
      <ClashPanel clashes={clashes} />
      <div class="editor">
        <FileList names={names} shown={shown} changed={changed} findings={findings} onOpen={goTo} />
        <Pane
          drafts={drafts}
          file={shown}
          line={line === "" ? undefined : Number(line)}
          findings={findings}
          mayPreview={mayPreview}
        />
      </div>
      {validated.error !== undefined && <Failure error={validated.error} />}
      <FindingList findings={findings} onOpen={goTo} />
      {isReviewing && (
        <ReviewDialog
          drafts={drafts}
          editor={editor}
          source={source}
          reload={reload}
          onOpen={(to, at) => {
            setReviewing(false);
            goTo(to, at);
          }}
          onClose={() => setReviewing(false)}
        />
      )}
    </>
  );
}

/** The text of one file. */
function Pane(props: {
  readonly drafts: Drafts;
  readonly file: string;
  readonly line: number | undefined;
  readonly findings: readonly Finding[];
  readonly mayPreview: boolean;
}) {
  const { drafts, file, line, findings, mayPreview } = props;
  return (
    <EditorView
      key={file}
      file={file}
      text={textsOf(drafts)[file] ?? ""}
      now={() => textsOf(draftsCell.value)[file] ?? ""}
      line={line}
      isReadOnly={!mayPreview}
      findings={findings.filter((finding) => finding.file === file)}
      onChange={(text) => typeText(file, text)}
      complete={async (text, offset, signal) => {
        if (!mayPreview) return undefined;
        return completed({ files: { ...drafts.typed, [file]: text }, path: file, offset }, signal);
      }}
    />
  );
}

/** Completions of a place. Without an answer there are none. */
async function completed(
  asked: AdminBody<"POST /config/complete">,
  signal: AbortSignal,
): Promise<Completed | undefined> {
  return post<Completed>("/config/complete", asked, { signal }).catch(() => undefined);
}

function Actions(props: {
  readonly isChanged: boolean;
  readonly isClash: boolean;
  readonly onReview: () => void;
}) {
  const { isChanged, isClash, onReview } = props;
  return (
    <>
      <Button disabled={!isChanged} onClick={() => dropDrafts()}>
        Discard
      </Button>
      <Button kind="primary" disabled={!isChanged || isClash} onClick={onReview}>
        Review
      </Button>
    </>
  );
}

function State(props: {
  readonly changed: readonly string[];
  readonly findings: number;
  readonly isAsking: boolean;
}) {
  const { changed, findings, isAsking } = props;
  if (changed.length === 0) return null;
  return (
    <span class="row" role="status">
      <Mark tone="accent">
        {changed.length} {changed.length === 1 ? "file" : "files"} changed
      </Mark>
      {isAsking ? (
        <Mark>checking</Mark>
      ) : findings > 0 ? (
        <Mark tone="bad">
          {findings} {findings === 1 ? "finding" : "findings"}
        </Mark>
      ) : (
        <Mark tone="good">valid</Mark>
      )}
    </span>
  );
}
