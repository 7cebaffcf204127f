/** The user that a key names. */

import { invalid } from "../fields.ts";
import type { WarningParts } from "./parents.ts";

/**
 * Throws `invalid_field` for an id that differs from a user's only by case, width or spaces: the
 * user's limits would not hold. Throws it for the id of a deleted user as well. Another id that no
 * user has is a label for spend.
 */
export async function checkUser({ records }: WarningParts, userId: unknown): Promise<void> {
  if (typeof userId !== "string") return;
  const similar = await records?.tenants.similarUser(userId);
  if (similar === undefined || (similar.id === userId && !similar.isDeleted)) return;
  const [meant, given] = [JSON.stringify(similar.id), JSON.stringify(userId)];
  throw invalid(
    "user_id",
    similar.isDeleted
      ? `The user ${meant} was deleted. Ids are not used again: name another user.`
      : `The user ${given} differs from ${meant} only by case, width or spaces. Write ${meant}.`,
  );
}
