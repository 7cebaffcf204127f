/** Admin routes for the pipelines that serve: their steps, what protects them, their schemas. */

import type { ExchangeRecord } from "../../../accounting/exchange-record.ts";
import type { RecentRequests } from "../../../accounting/recent-requests.ts";
import { heldSource } from "../../../config/files/source.ts";
import type { ResolvedDocument } from "../../../config/files/references.ts";
import type { Position, Snapshot } from "../../../config/snapshot.ts";
import { openConfig, type OpenOptions } from "../../../config/load.ts";
import type { GenerationHistory } from "../../../generation/history/history.ts";
import type { GenerationManager } from "../../../generation/manager.ts";
import type { Generation } from "../../../generation/generation.ts";
import { type HasName, unknownNames } from "../../../pipeline/steps/condition-names.ts";
import type { Definitions } from "../../../registry/definitions.ts";
import { type AdminRoutes, atWhole } from "../../access/route.ts";
import { describePipelines } from "./describe.ts";
import type { FileSchemas } from "./schemas.ts";

/** The parts of the process that the routes read. */
export interface PipelineRouteParts {
  readonly place: OpenOptions;
  readonly definitions: Definitions;
  readonly manager: Pick<GenerationManager, "live">;
  readonly history: Pick<GenerationHistory, "textsOf">;
  readonly recent: RecentRequests<ExchangeRecord>;
  readonly hasName: HasName;
  readonly schemas: () => FileSchemas;
  /**
   * What protects each route. `unknown` are places of steps whose condition names what does not
   * exist.
   */
  readonly coverageOf: (snapshot: Snapshot, unknown: readonly Position[]) => readonly object[];
}

/** The routes. */
export function pipelineRoutes(parts: PipelineRouteParts): AdminRoutes {
  const { manager, definitions, recent, hasName, coverageOf } = parts;
  const written = writtenFiles(parts);
  return {
    "GET /pipelines": atWhole("config.read", async () => {
      const { live } = manager;
      if (live === undefined) return { generation: null, pipelines: [] };
      const facts = {
        steps: definitions.steps,
        written: written(live),
        records: recent.all(),
      };
      return { generation: live.number, pipelines: describePipelines(live, facts) };
    }),
    "GET /config/coverage": atWhole("config.read", async () => {
      const { live } = manager;
      if (live === undefined) return { generation: null, routes: [] };
      const { snapshot, number } = live;
      const unknown = (await unknownNames(snapshot, hasName)).map(({ at }) => at);
      return { generation: number, routes: coverageOf(snapshot, unknown) };
    }),
    "GET /config/schema": atWhole("config.read", async () => parts.schemas()),
  };
}

/** The files of a generation as they are written. Those of one generation are kept. */
function writtenFiles({ history, place }: PipelineRouteParts) {
  let kept: { readonly of: number; readonly files: ReadonlyMap<string, ResolvedDocument> };
  return ({ number }: Generation): ReadonlyMap<string, ResolvedDocument> => {
    if (kept?.of === number) return kept.files;
    const texts = history.textsOf(number);
    const { pipelines } =
      texts === undefined ? { pipelines: [] } : openConfig({ ...place, source: heldSource(texts) });
    const files = new Map(pipelines.map((one) => [one.document.file, one]));
    kept = { of: number, files };
    return files;
  };
}
