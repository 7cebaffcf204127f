/**
 * Self-service on the public listener: a key reads itself, its team and its user, and makes and
 * rotates keys where its team or organization says so. The owner is that of the credential; no
 * route takes another one.
 */

import { ownRecords } from "./own-records.ts";
import { ownSecrets } from "./own-secrets.ts";
import type { SelfParts } from "./parts.ts";
import type { SelfRoute } from "./request.ts";

/** Self-service: its paths. */
export class SelfService {
  readonly #routes: ReadonlyMap<string, SelfRoute>;

  constructor(parts: SelfParts) {
    this.#routes = new Map(Object.entries({ ...ownRecords(parts), ...ownSecrets(parts) }));
  }

  /** The handlers of a path; `undefined` for every other path. */
  find(path: string): SelfRoute | undefined {
    return this.#routes.get(path);
  }
}
