/** `GET /guardrails/report`: what guardrails did, and what those in shadow would have done. */

import {
  type Clock,
  GatewayError,
  type GuardrailDay,
  type GuardrailDayQuery,
} from "@sluice/contract";
import type { Generation } from "../../../generation/generation.ts";
import { type AdminRoutes, atWhole } from "../../access/route.ts";
import { reportOf } from "./report.ts";

/** The parts of the route. */
export interface GuardrailReportParts {
  readonly ledger: {
    guardrails?(query: GuardrailDayQuery, signal?: AbortSignal): Promise<readonly GuardrailDay[]>;
  };
  readonly live: () => Generation | undefined;
  readonly clock: Clock;
}

const DAY_MS = 86_400_000;
const READ_TIMEOUT_MS = 4_000;
const DAYS: Readonly<Record<string, number>> = { "1d": 1, "7d": 7, "30d": 30, "90d": 90 };

/** The route. The supervisor of workers adds up what each worker's steps in shadow saw. */
export function guardrailRoutes({ ledger, live, clock }: GuardrailReportParts): AdminRoutes {
  return {
    "GET /guardrails/report": atWhole("guardrail.read", async ({ query }) => {
      if (ledger.guardrails === undefined)
        throw new GatewayError(
          "not_found",
          "The store of this gateway keeps no sums of guardrails.",
        );
      const days = DAYS[query.get("window") || "7d"] ?? 7;
      const today = Math.floor(clock.now() / DAY_MS);
      const fromMs = (today - days + 1) * DAY_MS;
      const sums = await ledger.guardrails({ fromMs }, AbortSignal.timeout(READ_TIMEOUT_MS));
      const dates = Array.from({ length: days }, (_, index) =>
        new Date(fromMs + index * DAY_MS).toISOString().slice(0, 10),
      );
      return reportOf(sums, dates, live());
    }),
  };
}
