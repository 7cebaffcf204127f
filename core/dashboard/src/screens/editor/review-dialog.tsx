/** From a draft to what runs: the lines, the effects, and then the files. */

import { useEffect, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../../api/api-error.ts";
import type { Impact, Texts, Validation } from "../../api/config.ts";
import { Button } from "../../parts/button.tsx";
import { CopyButton } from "../../parts/copy.tsx";
import { downloadText } from "../../parts/csv.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Mark, Notice } from "../../parts/marks.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { FilesDiff } from "../../parts/text-diff.tsx";
import { ImpactView } from "../../records/effects.tsx";
import { type Drafts, textsOf } from "./drafts.ts";
import { FindingList } from "./finding-list.tsx";
import { patchOf } from "./patch.ts";
import { validate } from "./use-validation.ts";

interface ReviewProps {
  readonly drafts: Drafts;
  readonly onOpen: (file: string, line: number) => void;
  readonly onReread: () => void;
  readonly onClose: () => void;
}

/** The dialog. */
export function ReviewDialog(props: ReviewProps) {
  const { drafts, onOpen, onClose } = props;
  const { base = {} } = drafts;
  const { answer, error } = useReview(drafts.typed);
  const patch = patchOf(base, textsOf(drafts));
  const isValid = answer !== undefined && answer.outcome !== "refused";
  return (
    <Dialog title="Review the edit" class="wide" onClose={onClose}>
      <div class="dialog-body">
        {error !== undefined && <Failure error={error} />}
        {answer === undefined ? (
          error === undefined && <Loading lines={6} />
        ) : (
          <Effects answer={answer} onOpen={onOpen} />
        )}
        <section class="stack-s">
          <h3>The lines</h3>
          <FilesDiff before={base} after={textsOf(drafts)} />
        </section>
        <Notice>
          This gateway proposes edits and does not write its files: <code>server.admin.editor</code>{" "}
          is <code>propose</code>. Take the patch to where the files are kept.
        </Notice>
      </div>
      <div class="dialog-foot">
        <Button onClick={onClose}>Go on editing</Button>
        <CopyButton kind="quiet" text={() => patch}>
          Copy the patch
        </CopyButton>
        <Button
          kind="primary"
          icon="download"
          disabled={!isValid}
          onClick={() => downloadText("configuration.patch", patch, "text/x-diff")}
        >
          Download the patch
        </Button>
      </div>
    </Dialog>
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
  }, []);
  return { answer, error };
}
