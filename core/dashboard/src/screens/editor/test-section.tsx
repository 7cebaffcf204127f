/** The tests of the drafts: those that the pipelines themselves have. */

import { useState } from "preact/hooks";
import { post } from "../../api/client.ts";
import type { Texts, TestResult } from "../../api/config.ts";
import { Button } from "../../parts/button.tsx";
import { duration } from "../../parts/format.ts";
import { Mark, Notice } from "../../parts/marks.tsx";
import { KeyAgain, reasonsOf } from "../../records/key-again.tsx";
import { useSend } from "../../records/use-send.ts";
import { FindingList } from "./finding-list.tsx";

const DEADLINE_MS = 40_000;

/** The section. Tests run when they are asked for: each run makes a whole gateway in memory. */
export function TestSection(props: {
  readonly typed: Texts;
  readonly onOpen: (file: string, line: number) => void;
}) {
  const { typed, onOpen } = props;
  const sending = useSend();
  const [answer, setAnswer] = useState<TestResult>();
  const reasons = reasonsOf(sending.failure);
  const run = async (): Promise<void> => {
    const options = { deadlineMs: DEADLINE_MS };
    const result = await sending.run(() =>
      post<TestResult>("/config/test", { files: typed }, options),
    );
    if (result !== undefined) setAnswer(result);
  };
  return (
    <section class="stack-s" aria-label="The tests">
      <h3 class="row">
        The tests {answer !== undefined && <Outcome answer={answer} />}
        <Button isBusy={sending.isBusy} onClick={() => void run()}>
          {answer === undefined ? "Run the tests" : "Run them again"}
        </Button>
      </h3>
      {reasons !== undefined && <KeyAgain reasons={reasons} onEntered={() => void run()} />}
      {reasons === undefined && sending.failure !== undefined && (
        <Notice tone="bad" isLoud>
          {sending.failure.message}
        </Notice>
      )}
      {answer !== undefined && <Results answer={answer} onOpen={onOpen} />}
    </section>
  );
}

function Outcome({ answer }: { readonly answer: TestResult }) {
  const { outcome, tests } = answer;
  if (outcome === "refused") return <Mark tone="bad">did not run</Mark>;
  const failed = tests.filter((test) => test.outcome === "failed").length;
  if (failed > 0)
    return (
      <Mark tone="bad">
        {failed} of {tests.length} failed
      </Mark>
    );
  return <Mark tone="good">{tests.length} passed</Mark>;
}

function Results(props: {
  readonly answer: TestResult;
  readonly onOpen: (file: string, line: number) => void;
}) {
  const { answer, onOpen } = props;
  const failed = answer.tests.filter(({ outcome }) => outcome === "failed");
  const ms = answer.tests.reduce((sum, test) => sum + test.ms, 0);
  return (
    <>
      <FindingList findings={answer.findings} onOpen={onOpen} />
      <FindingList findings={failed.flatMap(({ findings }) => findings)} onOpen={onOpen} />
      {answer.outcome === "passed" && <p class="muted">They took {duration(ms)}.</p>}
    </>
  );
}
