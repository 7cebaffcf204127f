/** What workers report while they run, and which part of the supervisor it concerns. */

import type { Worker } from "node:cluster";
import type { CanaryVotes } from "./canary-votes.ts";
import type { GenerationAgreement } from "./generation-agreement.ts";
import type { HeartbeatMonitor } from "./heartbeat.ts";
import type { KeyCacheInvalidation } from "./key-cache-invalidation.ts";
import type { OrphanedOutboxes } from "./orphaned-rows.ts";
import { send, type WorkerReport } from "./spawn-worker.ts";
import type { WorkerTable } from "./worker-table.ts";

/** The parts of the supervisor that reports concern. */
export interface ReportParts {
  readonly workers: WorkerTable;
  readonly heartbeats: HeartbeatMonitor;
  readonly agreement: GenerationAgreement;
  readonly orphaned: OrphanedOutboxes;
  readonly keyCaches: KeyCacheInvalidation;
  readonly canaryVotes: CanaryVotes;
}

/** Hands each report of a worker to its part. */
export class WorkerReports {
  readonly #parts: ReportParts;

  constructor(parts: ReportParts) {
    this.#parts = parts;
  }

  take(worker: Worker, message: WorkerReport): void {
    const { workers, heartbeats, agreement, orphaned, keyCaches, canaryVotes } = this.#parts;
    heartbeats.heard(worker);
    const state = workers.get(worker);
    switch (message.type) {
      case "beat":
        delete state?.blocked;
        return;
      case "hears":
        // Earlier messages to it are lost.
        if (workers.isStopping) send(worker, { type: "stop" });
        return;
      case "runs":
        agreement.runs(worker, message);
        return;
      case "not-followed":
        agreement.refused(worker, message.target, message.reasons);
        return;
      case "adopted":
        orphaned.delete(message.outbox);
        return;
      case "forgot":
        keyCaches.has(worker, message.id);
        return;
      case "verdict":
        canaryVotes.take(worker, message.verdict);
        return;
      case "rolled-back":
        workers.sendAll({ type: "roll-back", notice: message.notice });
        return;
      default:
        void state?.host?.answer(message).then((answer) => send(worker, answer));
    }
  }
}
