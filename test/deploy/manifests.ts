/** `npm run manifests`: renders the chart with its defaults to `deploy/kubernetes/sluice.yaml`. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { canRender, createRenderer, GO_PACKAGES, ROOT } from "./chart.ts";

export const MANIFESTS = join(ROOT, "deploy/kubernetes/sluice.yaml");
const HEAD = `# The chart of deploy/helm/sluice with its defaults, for kubectl apply. Made by \`npm run manifests\`.
# The Secret \`sluice\` with the master key comes first:
#   kubectl create secret generic sluice --from-literal=master-key=sk-$(openssl rand -hex 32)
`;
/** What the defaults leave open. */
export const NEEDED = { masterKey: { existingSecret: "sluice" } };

/** The contents of the file. */
export function manifestText(text: string): string {
  return `${HEAD}${text.replaceAll("Helm", "kubectl")}`;
}

if (process.argv[1] === import.meta.filename) {
  if (!canRender()) throw new Error(`Install ${GO_PACKAGES} first.`);
  writeFileSync(MANIFESTS, manifestText(createRenderer()(NEEDED).text));
}
