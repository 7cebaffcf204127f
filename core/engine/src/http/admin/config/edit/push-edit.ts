/** The last step of an edit whose files are in the store: a push of all of them. */

import { resolve } from "node:path";
import { isGatewayError } from "@sluice/contract";
import { pushedName } from "../../../../config/files/stored/stored-files.ts";
import type { TextWrite } from "../../../../config/files/write/write-texts.ts";
import type { OpenOptions } from "../../../../config/load.ts";
import type { StoredConfig } from "../../../../fleet/push.ts";
import type { ApplyResult } from "../../../../generation/rollout/apply.ts";
import { conflictOf } from "./conflict.ts";
import { presentFiles } from "./present-files.ts";
import type { EditOutcome, FileEdit, FilesOutcome } from "./file-edit.ts";

/** What a push needs. */
export interface PushEditParts {
  readonly place: OpenOptions;
  readonly stored: Pick<StoredConfig, "generation" | "edit">;
  /** Brings this process to what serves in the store. Never rejects. */
  readonly look: () => Promise<void>;
}

/**
 * Pushes files that were made from the generation `base`. Throws `config_conflict` with the files
 * as they are, and as `StoredConfig.push` does.
 */
export async function pushEdit(
  { place, stored, look }: PushEditParts,
  edit: FileEdit,
  writes: readonly TextWrite[],
  base: number | undefined,
): Promise<EditOutcome> {
  const { force, canary, author } = edit;
  const gateway = resolve(place.cwd, place.path);
  const changes = writes.map(
    ({ path, after }) => [pushedName(gateway, path), after?.toString() ?? null] as const,
  );
  try {
    const pushed = await stored.edit(new Map(changes), { base, force, author, canary });
    const result = pushed.result as ApplyResult;
    const files = filesAfter(result, pushed.rollout !== undefined);
    return { result, files, digest: presentFiles(place).digest };
  } catch (error) {
    if (!isGatewayError(error) || error.code !== "config_conflict") throw error;
    await look();
    const now = presentFiles(place);
    // An instance that does not run what serves has no other files to show.
    throw now.digest === edit.base ? error : conflictOf(now);
  }
}

function filesAfter({ outcome }: ApplyResult, isBegun: boolean): FilesOutcome {
  if (!isBegun) return outcome === "refused" ? "put_back" : "unchanged";
  return outcome === "refused" ? "left" : "written";
}
