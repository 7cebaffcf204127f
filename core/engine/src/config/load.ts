/** Loading in two phases: files first, then, once the plugins they name are known, the snapshot. */

import { buildSnapshot, pipelineOf } from "./build.ts";
import { hideCredentials } from "./validate/credential.ts";
import type { Finding } from "./finding.ts";
import { litellmSection } from "./validate/key-places.ts";
import type { OpenedConfig } from "./files/open.ts";
import { atOnce, type Pieces } from "./files/slices.ts";
import { type Definitions, keyHeadersOf } from "./validate/plugin-section.ts";
import type { ResolvedDocument } from "./files/references.ts";
import { readOverrides } from "./server-overrides.ts";
import type { PipelineSettings, Snapshot } from "./snapshot.ts";
import { validateGateway, validatePipelines, validatePrices } from "./validate/validate.ts";

export { openConfig, type OpenedConfig, openInPieces, type OpenOptions } from "./files/open.ts";
export type { Definitions } from "./validate/plugin-section.ts";

/** What loading gives: a frozen snapshot, or the findings because of which there is none. */
export interface ResolvedConfig {
  readonly snapshot: Snapshot | undefined;
  /** All findings of all files, in the order of the files and their lines. */
  readonly findings: readonly Finding[];
  /**
   * The pipelines of files without a finding, whatever is wrong elsewhere: their order can be
   * checked all the same.
   */
  readonly pipelines: readonly PipelineSettings[];
}

/**
 * Checks an opened configuration against the registered plugins, keyed by `kind/name`, and makes
 * its snapshot.
 */
export function resolveSnapshot(opened: OpenedConfig, definitions: Definitions): ResolvedConfig {
  return atOnce(resolveInPieces(opened, definitions));
}

/** Checks an opened configuration, and makes its snapshot, in pieces. */
export function* resolveInPieces(
  opened: OpenedConfig,
  definitions: Definitions,
): Pieces<ResolvedConfig> {
  const gateway = opened.gateway === undefined ? undefined : copyOf(opened.gateway);
  const foreign = litellmSection(gateway?.value);
  if (gateway !== undefined && foreign !== undefined) {
    const at = gateway.document.keyAt([foreign]);
    const message = `\`${foreign}\` is a section of LiteLLM: the file is not one of Sluice's`;
    const fix = `write files of Sluice's from it with \`sluice import litellm ${gateway.document.file}\``;
    return { snapshot: undefined, findings: [{ at, message, fix }], pipelines: [] };
  }
  const pipelines = opened.pipelines.map(copyOf);
  const prices = opened.prices === undefined ? undefined : copyOf(opened.prices);
  const at = gateway?.document.keyAt(["server"]) ?? { file: opened.path, line: 1, column: 1 };
  const { overrides, findings: overrideFindings } = readOverrides(opened.environment, at);
  const findings = [
    ...opened.findings,
    ...overrideFindings,
    ...(gateway === undefined ? [] : yield* validateGateway(gateway, definitions)),
    ...(yield* validatePipelines(pipelines, gateway === undefined ? undefined : definitions)),
    ...(prices === undefined ? [] : validatePrices(prices)),
  ];
  yield;
  if (findings.length > 0 || gateway === undefined) {
    const faulty = new Set(findings.map(({ at: { file } }) => file));
    const sound = pipelines.filter(({ document }) => !faulty.has(document.file));
    const reported = inOrder(findings).map((finding) => redact(finding, opened));
    return { snapshot: undefined, findings: reported, pipelines: sound.map(pipelineOf) };
  }
  const keyHeaders = keyHeadersOf(definitions);
  const snapshot = buildSnapshot({ opened, gateway, pipelines, prices, overrides, keyHeaders });
  return { snapshot, findings: [], pipelines: snapshot.pipelines };
}

/**
 * Checking fills defaults and secrets into the data; an opened configuration stays as it was read.
 */
function copyOf(resolved: ResolvedDocument): ResolvedDocument {
  return { ...resolved, value: structuredClone(resolved.value) };
}

/**
 * The last fence: whatever a finding quotes, it quotes no credential and no value of a reference.
 */
function redact(finding: Finding, { gateway, pipelines, prices }: OpenedConfig): Finding {
  const documents = [gateway, ...pipelines, prices].filter((document) => document !== undefined);
  let message = finding.message;
  for (const { value, written } of documents.flatMap(({ references }) => references)) {
    if (value !== undefined && value.length >= MIN_REDACTED)
      message = message.replaceAll(value, () => written);
  }
  return { ...finding, message: hideCredentials(message) };
}

/** Shorter values are words like `sqlite` and `4000`; replacing them would garble the message. */
const MIN_REDACTED = 8;

function inOrder(findings: readonly Finding[]): Finding[] {
  const files = [...new Set(findings.map(({ at }) => at.file))];
  const seen = new Set<string>();
  return findings
    .filter(({ at, message }) => {
      const key = `${at.file}:${at.line}:${at.column} ${message}`;
      const isNew = !seen.has(key);
      seen.add(key);
      return isNew;
    })
    .sort(
      (left, right) =>
        files.indexOf(left.at.file) - files.indexOf(right.at.file) ||
        left.at.line - right.at.line ||
        left.at.column - right.at.column,
    );
}
