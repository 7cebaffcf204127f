/** How responses are stored: what an entry holds, who refers to it, how it is read. */

import type { FaceKeeping } from "@sluice/contract";
import { answer } from "./answers.ts";
import { detached } from "./detached.ts";
import { entryOf } from "./entry.ts";
import { flagIn } from "../request/fields.ts";
import { decoded, isResponseId } from "./ids.ts";
import { openReferences, references } from "./references.ts";

export const keeping: FaceKeeping = {
  references,
  open: openReferences,
  // The API stores where a client says nothing.
  wants: ({ value }) => flagIn(value, "store") !== false,
  entryOf,
  idOf({ parameters: { response_id: id } }) {
    const name = decoded(id);
    return isResponseId(name) ? name : undefined;
  },
  answer,
  detached,
};
