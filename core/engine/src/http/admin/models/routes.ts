/** `GET /models`: what clients may name, and what stands behind each name. */

import { DEPLOYMENTS_KEY, type DeploymentRegistry } from "@sluice/contract";
import type { ModelSettings, Snapshot } from "../../../config/snapshot.ts";
import type { SharedPool } from "../../../resources/shared-pool.ts";
import { type AdminRoutes, atWhole } from "../../access/route.ts";
import { fitting } from "../bounded-page.ts";
import { invalid } from "../fields.ts";
import { describeModels } from "./describe.ts";

/** The parts of the route. */
export interface ModelRouteParts {
  readonly manager: {
    readonly live: { readonly number: number; readonly snapshot: Snapshot } | undefined;
  };
  readonly shared: Pick<SharedPool, "find">;
}

const DEFAULT_LIMIT = 50;

/** The route. Rows that do not fit into 64 KB are on the next page. */
export function modelRoutes({ manager, shared }: ModelRouteParts): AdminRoutes {
  return {
    "GET /models": atWhole("model.read", async ({ query }) => {
      const { live } = manager;
      const models = live?.snapshot.models ?? [];
      const from = beginOf(models, query.get("cursor") || undefined);
      const search = (query.get("search") ?? "").toLowerCase();
      const found = models.slice(from).filter((model) => isMatch(model, search));
      const asked = found.slice(0, Number(query.get("limit") || DEFAULT_LIMIT));
      const deployments = (shared.find(DEPLOYMENTS_KEY) as DeploymentRegistry | undefined)?.list();
      const rows =
        live === undefined ? [] : describeModels(asked, live.snapshot, deployments ?? []);
      const shown = fitting(rows);
      const last = shown.length < found.length ? shown.at(-1) : undefined;
      return {
        generation: live?.number ?? null,
        models: shown,
        next_cursor: last?.model ?? null,
      };
    }),
  };
}

/** The place behind the model that a cursor names. */
function beginOf(models: readonly ModelSettings[], cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const index = models.findIndex(({ id }) => id === cursor);
  if (index >= 0) return index + 1;
  throw invalid(
    "cursor",
    "The query parameter cursor names no model: the configuration has changed. Begin with the first page.",
  );
}

function isMatch({ id, targets }: ModelSettings, search: string): boolean {
  return (
    id.toLowerCase().includes(search) ||
    targets.some(({ provider, model }) => `${provider}/${model}`.toLowerCase().includes(search))
  );
}
