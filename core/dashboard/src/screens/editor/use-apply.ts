/** Writing the drafts to the files, and applying them. */

import { useState } from "preact/hooks";
import { put } from "../../api/client.ts";
import type { CanaryPlan, ConfigFiles, Texts, WriteResult } from "../../api/config.ts";
import { useRefresh } from "../../app/live.ts";
import { useSession } from "../../app/may.ts";
import type { Doing } from "../../parts/as-command.tsx";
import { toast } from "../../parts/toasts.tsx";
import { type Sending, useSend } from "../../records/use-send.ts";
import { type Drafts, draftsAreWritten, dropDrafts, takeFiles } from "./drafts.ts";

const FIRST_PLAN = { share: "5%", for: "10m", abort_if: "error_rate>5%" };
const DEADLINE_MS = 60_000;

/** The plan of a form. */
export type ShownPlan = typeof FIRST_PLAN;

/** The state of the last step. */
export interface Applying {
  readonly sending: Sending;
  readonly how: "all" | "canary";
  readonly plan: ShownPlan;
  readonly setHow: (how: "all" | "canary") => void;
  readonly setPlan: (plan: ShownPlan) => void;
  /** The refusal of the last attempt. */
  readonly refused: WriteResult | undefined;
  readonly doing: Doing;
  readonly apply: () => Promise<void>;
}

interface Body {
  readonly files: Texts;
  readonly base: string;
  readonly author?: string;
  readonly canary?: CanaryPlan;
}

/** Makes the state. `onDone` is called when the files are written, or others are there. */
export function useApply(
  drafts: Drafts,
  source: ConfigFiles["source"],
  onDone: () => void,
): Applying {
  const { name } = useSession();
  const refresh = useRefresh();
  const sending = useSend();
  const [how, setHow] = useState<"all" | "canary">("all");
  const [plan, setPlan] = useState(FIRST_PLAN);
  const [refused, setRefused] = useState<WriteResult>();
  const body: Body = {
    files: drafts.typed,
    base: drafts.digest,
    ...(name !== null && { author: name }),
    ...(how === "canary" && { canary: plan }),
  };
  const apply = async (): Promise<void> => {
    setRefused(undefined);
    const answer = await sending.run(() => write(body));
    if (answer === undefined) return;
    refresh("/config/", "/pipelines");
    if (answer === "changed") {
      toast("The files have changed since this edit was begun. Nothing was written.");
      return onDone();
    }
    if (answer.outcome === "refused") return setRefused(answer);
    // What serves all keys is what is edited in the store: a canary is not that yet.
    if (source === "store" && answer.outcome === "canary") dropDrafts();
    else draftsAreWritten(answer.files_digest);
    toast(textOf(answer));
    onDone();
  };
  const command = how === "canary" ? canaryOptions(plan) : [];
  const doing: Doing = {
    method: "PUT",
    path: "/config/files",
    body,
    sluice: [...(source === "store" ? ["push", "DIR"] : ["reload"]), ...command],
  };
  return { sending, how, plan, setHow, setPlan, refused, doing, apply };
}

/** Writes. `changed`: other files are there; they are taken as the other side. */
async function write(body: Body): Promise<WriteResult | "changed"> {
  try {
    return await put<WriteResult>("/config/files", body, { deadlineMs: DEADLINE_MS });
  } catch (error) {
    const theirs = theirsIn(error);
    if (theirs === undefined) throw error;
    takeFiles(theirs);
    return "changed";
  }
}

/** The files in the answer of a conflict. */
function theirsIn(error: unknown): { files: Texts; digest: string } | undefined {
  if (!(error instanceof Error) || !("status" in error) || error.status !== 409) return undefined;
  const { files, digest } =
    (error as { details?: { files?: unknown; digest?: unknown } }).details ?? {};
  if (typeof files !== "object" || files === null || typeof digest !== "string") return undefined;
  return { files: files as Texts, digest };
}

function textOf({ outcome, generation }: WriteResult): string {
  if (outcome === "canary") return `Generation ${generation} runs as a canary. History shows it.`;
  if (outcome === "unchanged") return "These contents run already.";
  if (outcome === "applied") return `Generation ${generation} serves.`;
  return `The files are written, and the edit is ${outcome}.`;
}

function canaryOptions(plan: ShownPlan): readonly string[] {
  return ["--canary", plan.share, "--for", plan.for, "--abort-if", plan.abort_if];
}
