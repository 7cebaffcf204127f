/** The last events of a deployment. */

import type { DeploymentEvent } from "@sluice/contract";

const MAX_EVENTS = 20;

/** What an event has besides its time and its kind. */
export type EventDetails = Partial<Omit<DeploymentEvent, "atMs" | "kind">>;

/** Keeps the newest events. A burst of failures keeps the ejection and the recovery before it. */
export class EventLog {
  readonly #events: DeploymentEvent[] = [];

  add(atMs: number, kind: DeploymentEvent["kind"], details: EventDetails = {}): void {
    const { model, operation, code, requestId, untilMs } = details;
    this.#events.push({ atMs, kind, model, operation, code, requestId, untilMs });
    if (this.#events.length <= MAX_EVENTS) return;
    const failures = this.#events.filter((event) => event.kind === "failed").length;
    const oldest = failures > MAX_EVENTS / 2 ? this.#events.findIndex(isFailure) : 0;
    this.#events.splice(oldest, 1);
  }

  /** The newest first. */
  list(): readonly DeploymentEvent[] {
    return this.#events.toReversed();
  }
}

function isFailure({ kind }: DeploymentEvent): boolean {
  return kind === "failed";
}
