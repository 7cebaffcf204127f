/** The lint `narrow_connections`: a provider can hold fewer requests than the gateway admits. */

import type { LintFinding, LintSubject } from "./rule.ts";

/** Requests that use a connection or wait for one, for each connection. */
const REQUESTS_PER_CONNECTION = 5;

/**
 * Reports providers whose connections and wait queue hold fewer requests than a `max_in_flight`.
 * They refuse the excess.
 */
export function narrowConnections({ snapshot, definitions }: LintSubject): LintFinding[] {
  const admitted = snapshot.pipelines.flatMap(({ steps }) =>
    steps.map(({ use, options }) =>
      definitions.ownName("step", use) === "limits"
        ? ((options["max_in_flight"] as number | undefined) ?? 0)
        : 0,
    ),
  );
  const maxInFlight = Math.max(0, ...admitted);
  return snapshot.providers.flatMap(({ name, at, connections }): LintFinding[] => {
    const held = connections * REQUESTS_PER_CONNECTION;
    if (held >= maxInFlight) return [];
    const message = `The provider ${name} holds at most ${held} requests (${connections} connections, ${held - connections} waiting), but \`max_in_flight\` admits ${maxInFlight}.`;
    return [
      {
        at,
        message,
        fix: `Set \`connections: ${Math.ceil(maxInFlight / REQUESTS_PER_CONNECTION)}\` or more, or a smaller \`max_in_flight\` in the step limits.`,
      },
    ];
  });
}
