/** The current use of the rates of a key or a team, for its page. */

import {
  type Host,
  type SharedState,
  WINDOW_BOOK_KEY,
  type WindowBook,
  type WindowOwner,
  type WindowUse,
} from "@sluice/contract";
import { groupOf } from "../rules/groups.ts";
import { MINUTE_MS, rateKey } from "../rules/rule.ts";

/** Opens the book of the process: it reads the state of the newest generation. */
export function openWindowBook(host: Pick<Host, "shared" | "state">): void {
  host.shared(WINDOW_BOOK_KEY, () => new Windows(host.state)).state = host.state;
}

class Windows implements WindowBook {
  state: Pick<SharedState, "read">;

  constructor(state: Pick<SharedState, "read">) {
    this.state = state;
  }

  async used({ kind, id, belonging }: WindowOwner): Promise<WindowUse> {
    const [requests, tokens] = await this.state.read(
      [
        rateKey("requests", `${kind}:${id}`, MINUTE_MS),
        rateKey("tokens", `${kind}:${id}`, MINUTE_MS),
      ],
      groupOf(kind, id, belonging),
    );
    return { requests: requests?.windowUsed ?? 0, tokens: tokens?.windowUsed ?? 0 };
  }

  close(): void {}
}
