/** `sluice check`: every finding of the configuration, one a line. */

import { checkConfig } from "../bootstrap.ts";
import { formatFinding } from "../config/finding.ts";
import { EXIT } from "./exit.ts";

/** Options of the command. */
export interface CheckOptions {
  readonly config: string;
  readonly json?: boolean;
  readonly print?: boolean;
}

export async function check({ config, json = false, print = false }: CheckOptions): Promise<void> {
  const { snapshot, findings } = await checkConfig({ path: config, cwd: process.cwd(), environment: process.env });
  if (json) {
    console.log(
      JSON.stringify(
        findings.map(({ at, message, fix }) => ({ ...at, message, fix })),
        null,
        2,
      ),
    );
  } else {
    for (const finding of findings) console.log(formatFinding(finding));
  }
  if (snapshot === undefined) {
    process.exitCode = EXIT.findings;
    return;
  }
  if (print) console.log(JSON.stringify({ ...snapshot, prices: undefined }, null, 2));
  if (json || print) return;
  for (const notice of snapshot.notices) console.log(`note: ${notice}`);
  const { pipelines, models, providers } = snapshot;
  const routes = pipelines.reduce((sum, pipeline) => sum + pipeline.routes.length, 0);
  console.log(`ok: ${pipelines.length} pipelines, ${routes} routes, ${models.length} models, ${providers.length} providers`);
}
