/** What the start prints: where it listens, the new master key once, and a request to paste. */

import type { RunningGateway } from "../bootstrap.ts";

/** The lines of the first screen. */
export function welcome({
  publicUrl,
  adminUrl,
  installation,
  snapshot,
}: Pick<RunningGateway, "publicUrl" | "adminUrl" | "installation" | "snapshot">): string {
  const lines = [
    `Sluice listens on ${publicUrl}, for administration on ${adminUrl}.`,
    `Data folder: ${snapshot.server.dataDirectory}`,
  ];
  for (const notice of snapshot.notices) lines.push(`  note: ${notice}`);
  if (installation.isNewMasterKey) {
    lines.push("", "Master key, shown this once and kept in the data folder:", "", `  ${installation.masterKey}`);
  }
  const model = snapshot.models.findLast(({ targets }) => targets.length > 0)?.id ?? "echo";
  const { masterKeyFile } = installation;
  const key = masterKeyFile === undefined ? "$SLUICE_MASTER_KEY" : `$(cat ${masterKeyFile})`;
  lines.push(
    "",
    "A first request:",
    "",
    `  curl ${publicUrl}/v1/chat/completions \\`,
    `    -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\`,
    `    -d '{"model":"${model}","messages":[{"role":"user","content":"Hello, Sluice"}]}'`,
    "",
  );
  return lines.join("\n");
}
