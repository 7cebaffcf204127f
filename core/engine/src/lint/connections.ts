/** The lint `narrow_connections`: providers that can hold fewer requests than the gateway admits. */

import type { Doubt, LintSubject } from "./rule.ts";

/** Requests that use a connection or wait for one, for each connection. */
const REQUESTS_PER_CONNECTION = 5;

/** Providers whose connections and waiting places are fewer than a `max_in_flight`: further requests to them are refused. */
export function narrowConnections({ snapshot, definitions }: LintSubject): Doubt[] {
  const admitted = snapshot.pipelines.flatMap(({ steps }) =>
    steps.map(({ use, options }) =>
      definitions.ownName("step", use) === "limits" ? ((options["max_in_flight"] as number | undefined) ?? 0) : 0,
    ),
  );
  const most = Math.max(0, ...admitted);
  return snapshot.providers.flatMap(({ name, at, connections }): Doubt[] => {
    const held = connections * REQUESTS_PER_CONNECTION;
    if (held >= most) return [];
    const message = `The provider ${name} has ${connections} connections and four times as many waiting places, so it holds ${held} requests, and \`max_in_flight\` admits ${most}.`;
    return [
      {
        at,
        message,
        fix: `Set \`connections: ${Math.ceil(most / REQUESTS_PER_CONNECTION)}\` or more, or a smaller \`max_in_flight\` in the step limits.`,
      },
    ];
  });
}
