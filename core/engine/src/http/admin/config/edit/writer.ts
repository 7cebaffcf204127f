/**
 * Edits of the files over the admin listener: checked and tested first, written all or not at all,
 * applied, and put back where applying them is refused. Files in the store are pushed instead.
 */

import { GatewayError } from "@sluice/contract";
import type { EditorMode } from "../../../../config/server-settings.ts";
import type { Finding } from "../../../../config/finding.ts";
import { contentsDigest } from "../../../../config/build.ts";
import {
  bytesOf,
  type TextWrite,
  WriteFault,
  writeTexts,
} from "../../../../config/files/write/write-texts.ts";
import { openConfig, type OpenedConfig, type OpenOptions } from "../../../../config/load.ts";
import type { WholeEdits } from "../../../../fleet/whole-edits.ts";
import type { ConfigDiff } from "../../../../generation/diff/config-diff.ts";
import type { Effect } from "../../../../generation/diff/effects/effect.ts";
import type { ApplyResult } from "../../../../generation/rollout/apply.ts";
import type { CanaryPlan } from "../../../../generation/rollout/canary/canary.ts";
import type { ConfigEdits } from "../../../../generation/rollout/edits.ts";
import type { Review } from "../../../../generation/rollout/review.ts";
import { keyNeeded } from "../../detailed-error.ts";
import { invalid } from "../../fields.ts";
import { conflictOf } from "./conflict.ts";
import type { EditOutcome, FileEdit } from "./file-edit.ts";
import { pathOfName, type PresentFiles, presentFiles } from "./present-files.ts";
import { pushEdit, type PushEditParts } from "./push-edit.ts";
import { ownSecretFindings, reasonsToConfirm } from "./sensitive.ts";
import type { CandidateTests } from "./tests.ts";

/** What edits of the files need. */
export interface WriterParts {
  readonly place: OpenOptions;
  readonly edits: Pick<ConfigEdits, "overlaid" | "review" | "status">;
  readonly whole: Pick<WholeEdits, "reload">;
  readonly configDiff: Pick<ConfigDiff, "of">;
  readonly tests: CandidateTests;
  /** `server.admin.editor` of the start. */
  readonly mode: EditorMode;
  /** Present where the configuration is in the store. */
  readonly stored: PushEditParts["stored"] | undefined;
  readonly look: PushEditParts["look"];
}

/** What the caller of an edit is, and what runs the write between two lines of the audit. */
export interface EditCaller {
  readonly isConfirmed: boolean;
  attempt(write: () => Promise<EditOutcome>): Promise<EditOutcome>;
}

/** Texts that were checked. */
type Checked = Pick<Review, "findings" | "snapshot" | "digest" | "contents">;

const MAX_FILES = 50;

/** Writes the files of one gateway, one edit after the other. */
export class ConfigWriter {
  readonly #parts: WriterParts;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /** Throws `read_only` where this listener takes no such edits. `isTest`: nothing is written. */
  checkMode(isTest: boolean): void {
    const { mode, stored } = this.#parts;
    if (mode === "off" || (mode === "propose" && !isTest))
      throw notWritten(mode, stored !== undefined);
  }

  /** Checks texts that are not written. Throws `confirmation_required`, and `invalid_field`. */
  async check(files: FileEdit["files"], isConfirmed: boolean): Promise<Checked> {
    const { place, edits } = this.#parts;
    return this.#check(openConfig(place), edits.overlaid(files), undefined, isConfirmed);
  }

  /**
   * Writes and applies an edit. Throws `read_only`, `config_conflict` with the files as they are,
   * `confirmation_required` and `invalid_field`; then nothing has changed.
   */
  write(edit: FileEdit, caller: EditCaller): Promise<EditOutcome> {
    const own = this.#last.then(() => this.#write(edit, caller));
    this.#last = own.catch(() => undefined);
    return own;
  }

  async #write(edit: FileEdit, caller: EditCaller): Promise<EditOutcome> {
    this.checkMode(false);
    const { place, edits, tests, stored, look } = this.#parts;
    const present = presentFiles(place);
    const base = stored?.generation;
    const writes = writesOf(edit.files, present);
    if (stored === undefined) for (const { path } of writes) faultAsError(() => bytesOf(path));
    const opened = edits.overlaid(edit.files);
    if (present.digest !== edit.base) return this.#repeated(writes, opened, present);
    if (stored === undefined) checkCanary(edit.canary, edits.status);
    const checked = await this.#check(present.opened, opened, edit.force, caller.isConfirmed);
    const refused = (findings: readonly Finding[]): EditOutcome => ({
      result: refusal(findings, checked),
      files: "put_back",
      digest: present.digest,
    });
    if (checked.findings.length > 0 || checked.snapshot === undefined)
      return refused(checked.findings);
    const { results, findings } = await tests.run(checked.snapshot);
    const failed = [...findings, ...results.flatMap((result) => result.findings)];
    if (failed.length > 0) return refused(failed);
    return caller.attempt(() =>
      stored === undefined
        ? this.#apply(edit, writes, present)
        : pushEdit({ place, stored, look }, edit, writes, base),
    );
  }

  async #check(
    before: OpenedConfig,
    after: OpenedConfig,
    force: string | undefined,
    isConfirmed: boolean,
  ): Promise<Checked> {
    const { edits, configDiff } = this.#parts;
    const { findings, snapshot, digest, contents } = edits.review(after, force);
    // What is in the store is read under a rule of its own, which has these findings.
    const own = after.own === undefined ? ownSecretFindings(before, after) : [];
    const all = [...own, ...findings];
    if (all.length > 0 || snapshot === undefined)
      return { findings: all, snapshot: undefined, digest, contents };
    const { effects } = await configDiff.of(snapshot, false);
    if (!isConfirmed) checkConfirmed(before, after, effects);
    return { findings: [], snapshot, digest, contents };
  }

  /** An edit that was made from other files: what is there already is not made again. */
  #repeated(
    writes: readonly TextWrite[],
    opened: OpenedConfig,
    present: PresentFiles,
  ): EditOutcome {
    const { live, canary } = this.#parts.edits.status;
    const contents = contentsDigest(opened);
    const running = [live, canary?.generation].find((one) => one?.snapshot.contents === contents);
    if (running === undefined || !writes.every(isThere)) throw conflictOf(present);
    const result: ApplyResult = {
      outcome: running === live ? "unchanged" : "canary",
      atMs: Date.now(),
      digest: running.snapshot.digest,
      contents,
      generation: running.number,
      findings: [],
    };
    return { result, files: "unchanged", digest: present.digest };
  }

  async #apply(
    { force, canary, author }: FileEdit,
    all: readonly TextWrite[],
    present: PresentFiles,
  ): Promise<EditOutcome> {
    const { place, whole } = this.#parts;
    const writes = all.filter((write) => !isThere(write));
    try {
      await writeTexts(writes);
    } catch (error) {
      if (error instanceof WriteFault && error.kind === "changed")
        throw conflictOf(presentFiles(place));
      throw errorOf(error);
    }
    const written = writes.length === 0 ? "unchanged" : "written";
    const digest = (): string => presentFiles(place).digest;
    const undo = () =>
      writeTexts(writes.map(({ path, before, after }) => ({ path, before: after, after: before })));
    let result: ApplyResult;
    try {
      result = await whole.reload(force, canary, author);
    } catch (error) {
      await undo().catch(() => undefined);
      throw error;
    }
    if (result.outcome !== "refused" || writes.length === 0)
      return { result, files: written, digest: digest() };
    // An edit that came meanwhile stays, and so does what cannot be written any more.
    const files = await undo().then(
      () => "put_back" as const,
      () => "left" as const,
    );
    return { result, files, digest: files === "put_back" ? present.digest : digest() };
  }
}

/** Texts or their absence, by the places of files. */
function writesOf(
  files: Readonly<Record<string, string | null>>,
  present: PresentFiles,
): readonly TextWrite[] {
  const entries = Object.entries(files);
  if (entries.length === 0 || entries.length > MAX_FILES)
    throw invalid("files", `The field files must name 1 to ${MAX_FILES} files.`);
  return entries.map(([name, text]) => {
    if (text !== null && !text.isWellFormed())
      throw invalid("files", `The text of ${JSON.stringify(name)} is not well-formed Unicode.`);
    const path = pathOfName(name, text, present);
    return {
      path,
      before: present.files.get(name)?.bytes,
      after: text === null ? undefined : Buffer.from(text),
    };
  });
}

function isThere({ before, after }: TextWrite): boolean {
  return before === undefined || after === undefined ? before === after : before.equals(after);
}

/** A saved file would apply to all keys before the canary begins. */
function checkCanary(canary: CanaryPlan | undefined, { live }: ConfigEdits["status"]): void {
  if (canary === undefined || live?.snapshot.server.reload === "on_request") return;
  throw invalid(
    "canary",
    "With `server.reload: on_save` a saved file applies to all keys: set it to `on_request` and restart, or apply the edit without a canary.",
  );
}

function checkConfirmed(
  before: OpenedConfig,
  after: OpenedConfig,
  effects: readonly Effect[],
): void {
  const reasons = reasonsToConfirm(before, after, effects);
  if (reasons.length > 0) throw keyNeeded("edit", reasons);
}

function refusal(
  findings: readonly Finding[],
  { digest, contents }: { readonly digest: string | undefined; readonly contents: string },
): ApplyResult {
  return {
    outcome: "refused",
    atMs: Date.now(),
    digest,
    contents,
    generation: undefined,
    findings,
  };
}

function notWritten(mode: EditorMode, isStored: boolean): GatewayError {
  const what =
    mode === "off" ? "takes no edits of the configuration" : "proposes edits and applies none";
  const instead = isStored
    ? "Edit what `sluice pull` writes, and `sluice push` it"
    : "Edit the files where they are kept";
  return new GatewayError(
    "read_only",
    `This gateway ${what}: \`server.admin.editor\` is \`${mode}\`. ${instead}, or set it to \`write\` in the gateway file and restart.`,
  );
}

function faultAsError<Result>(run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw errorOf(error);
  }
}

/** The answer for a file that cannot be written. */
function errorOf(error: unknown): unknown {
  if (!(error instanceof WriteFault)) return error;
  const { kind, path, message } = error;
  const what = `${path} cannot be written: ${message}. Nothing was changed.`;
  if (kind === "full")
    return new GatewayError("overloaded", `${what} Make room, and send it again.`);
  return new GatewayError("read_only", `${what} Edit it where it is kept.`);
}
