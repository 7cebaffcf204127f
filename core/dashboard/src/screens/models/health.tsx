/** The health of a deployment in a word. */

import { fromNow } from "../../parts/format.ts";
import { Mark } from "../../parts/marks.tsx";

/** What the balancer makes of a deployment. */
export type Health = "healthy" | "recovering" | "ejected";

const TONES = { healthy: "good", recovering: "warn", ejected: "bad" } as const;
const HEALTH = { closed: "healthy", half_open: "recovering", open: "ejected" } as const;

/** The health that a state of the circuit breaker stands for. */
export function healthOf(breaker: keyof typeof HEALTH): Health {
  return HEALTH[breaker];
}

/** The marks. */
export function HealthMark(props: {
  readonly health: Health;
  readonly until?: string | null;
  readonly heldUntil: string | null;
  readonly isRefused: boolean;
  readonly title?: string | undefined;
}) {
  const { health, until = null, heldUntil, isRefused, title } = props;
  return (
    <span class="row nowrap">
      <Mark tone={TONES[health]} title={title}>
        {health}
      </Mark>
      {heldUntil !== null && (
        <Mark
          tone="warn"
          icon="lock"
          title={`No request is sent to it. The hold ends ${fromNow(heldUntil)}.`}
        >
          held
        </Mark>
      )}
      {isRefused && <Mark tone="bad">credential refused</Mark>}
      {until !== null && <span class="muted">tried again {fromNow(until)}</span>}
    </span>
  );
}
