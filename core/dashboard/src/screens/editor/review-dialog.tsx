/** From a draft to what runs: the effects, the tests, the lines, and then the files. */

import { useEffect, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../../api/api-error.ts";
import type { ConfigFiles, Impact, Texts, Validation } from "../../api/config.ts";
import { useMay } from "../../app/may.ts";
import { Button } from "../../parts/button.tsx";
import { CopyButton } from "../../parts/copy.tsx";
import { downloadText } from "../../parts/csv.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Mark, Notice } from "../../parts/marks.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { FilesDiff } from "../../parts/text-diff.tsx";
import { ImpactView } from "../../records/effects.tsx";
import { ApplyFoot, ApplySection } from "./apply-section.tsx";
import { type Drafts, textsOf } from "./drafts.ts";
import { FindingList } from "./finding-list.tsx";
import { patchOf } from "./patch.ts";
import { TestSection } from "./test-section.tsx";
import { useApply } from "./use-apply.ts";
import { validate } from "./use-validation.ts";

interface ReviewProps {
  readonly drafts: Drafts;
  readonly editor: ConfigFiles["editor"];
  readonly source: ConfigFiles["source"];
  readonly reload: ConfigFiles["reload"];
  readonly onOpen: (file: string, line: number) => void;
  readonly onClose: () => void;
}

/** The dialog. */
export function ReviewDialog(props: ReviewProps) {
  const { drafts, editor, source, reload, onOpen, onClose } = props;
  const { base = {} } = drafts;
  const may = useMay();
  const { answer, error } = useReview(drafts.typed);
  const patch = patchOf(base, textsOf(drafts), source);
  const isValid = answer !== undefined && answer.outcome !== "refused";
  const mayWrite = editor === "write" && may("config.write");
  const applying = useApply(drafts, source, onClose);
  return (
    <Dialog title="Review the edit" class="wide" onClose={onClose}>
      <div class="dialog-body">
        {error !== undefined && <Failure error={error} />}
        {answer === undefined ? (
          error === undefined && <Loading lines={6} />
        ) : (
          <Effects answer={answer} onOpen={onOpen} />
        )}
        {isValid && editor !== "off" && may("config.test") && (
          <TestSection typed={drafts.typed} onOpen={onOpen} />
        )}
        <section class="stack-s">
          <h3>The lines</h3>
          <FilesDiff before={base} after={textsOf(drafts)} />
        </section>
        {mayWrite ? (
          <ApplySection
            applying={applying}
            mayBegin={source === "store" || reload === "on_request"}
            source={source}
            onOpen={onOpen}
          />
        ) : (
          <Proposed editor={editor} source={source} />
        )}
      </div>
      <div class="dialog-foot">
        <Button onClick={onClose}>Go on editing</Button>
        <CopyButton kind="quiet" text={() => patch}>
          Copy the patch
        </CopyButton>
        <Button
          {...(!mayWrite && { kind: "primary" as const })}
          icon="download"
          disabled={!isValid}
          onClick={() => downloadText("configuration.patch", patch, "text/x-diff")}
        >
          Download the patch
        </Button>
        {mayWrite && <ApplyFoot applying={applying} isValid={isValid} />}
      </div>
    </Dialog>
  );
}

function Proposed({ editor, source }: Pick<ConfigFiles, "editor" | "source">) {
  if (editor === "write")
    return (
      <Notice>
        Edits are applied by administrators of the whole gateway. Take the patch to one of them.
      </Notice>
    );
  return (
    <Notice>
      This gateway proposes edits and applies none: <code>server.admin.editor</code> is{" "}
      <code>{editor}</code>.{" "}
      {source === "store" ? (
        <>
          The configuration is in the store: <code>sluice pull --out DIR</code>, apply the patch
          there, <code>sluice push DIR</code>.
        </>
      ) : (
        "Take the patch to where the files are kept."
      )}
    </Notice>
  );
}

function Effects(props: {
  readonly answer: Validation;
  readonly onOpen: (file: string, line: number) => void;
}) {
  const { answer, onOpen } = props;
  if (answer.outcome === "refused")
    return (
      <section class="stack-s">
        <h3 class="row">
          The check <Mark tone="bad">refused</Mark>
        </h3>
        <FindingList findings={answer.findings} onOpen={onOpen} />
      </section>
    );
  return (
    <section class="stack-s">
      <h3 class="row">
        What it changes <Mark tone="good">valid</Mark>
      </h3>
      {answer.effects === undefined ? (
        <p class="muted">These contents run already.</p>
      ) : (
        <ImpactView impact={answer as Impact} />
      )}
    </section>
  );
}

/** The findings and effects of the drafts, with a replay of the last requests. */
function useReview(typed: Texts): {
  readonly answer: Validation | undefined;
  readonly error: ApiError | undefined;
} {
  const [answer, setAnswer] = useState<Validation>();
  const [error, setError] = useState<ApiError>();
  useEffect(() => {
    const ends = new AbortController();
    validate(typed, true, ends.signal).then(setAnswer, (failure: unknown) => {
      if (!ends.signal.aborted) setError(asApiError(failure));
    });
    return () => ends.abort();
  }, [typed]);
  return { answer, error };
}
