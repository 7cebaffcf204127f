/**
 * What the start says on standard output: on a terminal where it listens, the new master key once
 * and a request to paste; elsewhere one JSON line.
 */

import { sep } from "node:path";
import type { Supervised as Started } from "@sluice/engine/cluster";
import { isWildcard, SHIPPED_GATEWAY } from "@sluice/engine/config";

/**
 * What is printed. The master key is shown on a terminal alone: what is no terminal is kept by log
 * collectors.
 */
export function announcement(started: Started, isTerminal: boolean): string {
  return isTerminal ? welcome(started) : listeningLine(started);
}

/** A line of the log's form, so that a collector of both streams reads JSON alone. */
function listeningLine({ publicUrl, adminUrl, installation, snapshot }: Started): string {
  return JSON.stringify({
    level: 30,
    time: new Date().toISOString(),
    msg: listening(publicUrl, adminUrl),
    public_url: publicUrl,
    admin_url: adminUrl,
    data_directory: snapshot.server.dataDirectory,
    master_key_file: installation.masterKeyFile ?? null,
    notes: snapshot.notices,
  });
}

/** Notes on the first screen, where the master key and the request to paste must be seen. */
const MAX_NOTES = 8;

/** The lines of the first screen. */
export function welcome({ publicUrl, adminUrl, installation, snapshot }: Started): string {
  const lines = [listening(publicUrl, adminUrl), `Data folder: ${snapshot.server.dataDirectory}`];
  lines.push(...notes(snapshot.notices));
  if (installation.isNewMasterKey) {
    lines.push(
      "",
      "Master key, shown this once and kept in the data folder:",
      "",
      `  ${installation.masterKey}`,
    );
  }
  const model = firstChatModel(snapshot);
  if (model === undefined) return [...lines, ...ownFile(snapshot), ""].join("\n");
  const { masterKeyFile } = installation;
  const key = masterKeyFile === undefined ? "$SLUICE_MASTER_KEY" : `$(cat ${masterKeyFile})`;
  lines.push(
    "",
    "A first request:",
    "",
    `  curl ${publicUrl}/v1/chat/completions \\`,
    `    -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\`,
    `    -d '{"model":"${model}","messages":[{"role":"user","content":"Hello, Sluice"}]}'`,
  );
  return [...lines, ...ownFile(snapshot), ""].join("\n");
}

/** The notes of a short file. The shipped one has two for each provider. */
function notes(notices: readonly string[]): readonly string[] {
  if (notices.length <= MAX_NOTES) return notices.map((notice) => `  note: ${notice}`);
  return [
    `  ${notices.length} notes, for example of providers without a credential: \`sluice check\``,
  ];
}

/** A gateway file in the folder of the installation cannot be edited. */
function ownFile({ files }: Started["snapshot"]): readonly string[] {
  if (files[0]?.path !== SHIPPED_GATEWAY || !SHIPPED_GATEWAY.includes(`${sep}node_modules${sep}`))
    return [];
  return [
    "",
    "This is the shipped configuration: set OPENAI_API_KEY or another provider's variable before the start to serve its models.",
    "For one of your own, `npx sluice init` writes gateway.yaml here, and `npx sluice` serves it.",
  ];
}

function listening(publicUrl: string, adminUrl: string): string {
  return `Sluice listens on ${publicUrl}, for administration on ${adminUrl}.`;
}

/** The first chat model that can be asked for by its id, and whose provider has its credential. */
function firstChatModel({ models, providers }: Started["snapshot"]): string | undefined {
  const available = new Set(
    providers.filter(({ missing }) => missing.length === 0).map(({ name }) => name),
  );
  return models.find(
    ({ id, mode, targets }) =>
      mode === "chat" && !isWildcard(id) && targets.some(({ provider }) => available.has(provider)),
  )?.id;
}
