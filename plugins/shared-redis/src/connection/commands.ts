/** Commands on a socket, each with its deadline. */

import { errorMessage } from "@sluice/contract";
import { CommandDeadline } from "./deadline.ts";
import { explained } from "./faults.ts";
import type { SingleSocketClient } from "./socket-client.ts";

/** Error replies of a server that is of no use (redis.io, "Redis serialization protocol"). */
const UNUSABLE = /^(READONLY|LOADING|MASTERDOWN|NOAUTH|WRONGPASS)\b/;
/** Those of a node of a cluster (redis.io, "Redis cluster specification"). */
const OTHER_NODE = /^(MOVED|ASK|CLUSTERDOWN)\b/;

/** Sends the commands of one connection. */
export class Commands {
  readonly #timeoutMs: number;
  readonly #isOfCluster: boolean;
  /** When the last reply came, on the clock of `performance.now`. */
  #repliedMs = -Infinity;

  constructor(timeoutMs: number, isOfCluster: boolean) {
    this.#timeoutMs = timeoutMs;
    this.#isOfCluster = isOfCluster;
  }

  /** Sends a command. Rejects after its deadline, and breaks the socket then. */
  send(client: SingleSocketClient, parts: readonly (string | Buffer)[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const deadline = new CommandDeadline(this.#timeoutMs, {
        repliedMs: () => this.#repliedMs,
        onLate: (waitedMs) => {
          reject(new Error(`Redis did not answer within ${Math.round(waitedMs)} ms.`));
          // The reply may still come. The next command on this socket might read it as its own.
          client.break();
        },
      });
      const replied = (): void => {
        this.#repliedMs = performance.now();
        deadline.end();
      };
      client.send(parts).then(
        (reply) => (replied(), resolve(reply)),
        (error: unknown) => {
          replied();
          if (this.#isUnusable(errorMessage(error))) client.break();
          reject(explained(error));
        },
      );
    });
  }

  /** Whether an error reply says that the server is of no use to this gateway. */
  #isUnusable(text: string): boolean {
    return UNUSABLE.test(text) || (!this.#isOfCluster && OTHER_NODE.test(text));
  }
}
