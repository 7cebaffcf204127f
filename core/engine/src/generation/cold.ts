/** Cold settings: those that an edit cannot change while the process runs. */

import cluster from "node:cluster";
import type { Finding } from "../config/finding.ts";
import type { PluginReference, Position, ServerSettings, Snapshot } from "../config/snapshot.ts";

/** A finding for each cold setting that differs, at its place. */
export function coldChanges(live: Snapshot, candidate: Snapshot): Finding[] {
  const changes = serverChanges(live.server, candidate.server);
  if (differ(withoutPlace(live.store), withoutPlace(candidate.store))) {
    changes.push({ name: "The section store", at: candidate.store.at });
  }
  if (differ(withoutAt(live.shared), withoutAt(candidate.shared))) {
    changes.push({ name: "The section shared", at: candidate.shared.at });
  }
  const { source, secrets } = live.configSource;
  const { at, ...config } = candidate.configSource;
  if (differ({ source, secrets }, config)) changes.push({ name: "The section config", at });
  // What is found by itself changes with the installation. An edit that needs none of it applies.
  const areFound = [...live.plugins, ...candidate.plugins].every(({ isFound }) => isFound);
  const plugins = areFound ? undefined : pluginChange(live, candidate.plugins);
  if (plugins !== undefined) changes.push({ ...plugins, at: plugins.at ?? startOf(candidate) });
  return changes.map((change) => findingOf(change, live));
}

/**
 * Findings of contents that name plugins which are not loaded: where the section `plugins` has
 * changed, that is why, and it is the only one of them that an operator can act on.
 */
export function withoutUnloaded(
  findings: readonly Finding[],
  live: Snapshot | undefined,
  plugins: readonly PluginReference[],
): readonly Finding[] {
  const change = live === undefined ? undefined : pluginChange(live, plugins);
  if (
    live === undefined ||
    change?.at === undefined ||
    !findings.some(({ isUnknownPlugin }) => isUnknownPlugin)
  )
    return findings;
  return [
    findingOf({ ...change, at: change.at }, live),
    ...findings.filter(({ isUnknownPlugin }) => isUnknownPlugin !== true),
  ];
}

function pluginChange(
  live: Snapshot,
  plugins: readonly PluginReference[],
): { name: string; at: Position | undefined } | undefined {
  const known = live.plugins.map(({ specifier }) => specifier);
  const listed = plugins.map(({ specifier }) => specifier);
  if (!differ(known, listed)) return undefined;
  const changed = plugins.find(({ specifier }) => !known.includes(specifier)) ?? plugins.at(-1);
  const isFound = changed?.isFound === true;
  return {
    name: isFound ? "The set of installed plugins" : "The section plugins",
    at: changed?.at,
  };
}

function findingOf({ name, at }: Change, live: Snapshot): Finding {
  return {
    at,
    message: `${name} cannot change while the gateway runs.`,
    fix: isReplaceable(name, live.server.workers)
      ? "Apply it with `sluice restart`, or undo the edit."
      : "Stop the gateway and start it again to apply it, or undo the edit.",
  };
}

/** Settings of the supervisor, which stay while it runs. Each new worker reads the others. */
function isReplaceable(name: string, workers: number): boolean {
  return (
    (workers > 1 || cluster.isWorker) &&
    !/ server\.(?:workers|host|port|admin|data_directory)$| (?:shared|config)$/.test(name)
  );
}

const EDITOR = "admin.editor";

interface Change {
  readonly name: string;
  readonly at: Position;
}

function serverChanges(live: ServerSettings, candidate: ServerSettings): Change[] {
  const members = new Set([...Object.keys(live), ...Object.keys(candidate)]);
  members.delete("places");
  // The keys in `admin` are asked for at each request: an edit of them is live at once.
  const value = (settings: ServerSettings, member: string): unknown =>
    member === "admin"
      ? `${settings.admin.host}:${settings.admin.port}`
      : (settings as unknown as Record<string, unknown>)[member];
  return (
    [...members]
      .filter((member) => differ(value(live, member), value(candidate, member)))
      // No edit that is applied gives the right to write files.
      .concat(live.admin.editor === candidate.admin.editor ? [] : [EDITOR])
      .map((member) => {
        const key = keyOf(member);
        const { places } = candidate;
        return {
          name: `The setting server.${key}`,
          at: places[key.split(".", 1)[0] ?? ""] ??
            places[""] ??
            live.places[""] ?? { file: "", line: 1, column: 1 },
        };
      })
  );
}

/** The key in YAML of a member of the settings: `drainTimeoutMs` is read from `drain_timeout`. */
function keyOf(member: string): string {
  return member
    .replace(/(?:Ms|Bytes)$/, "")
    .replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function differ(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) !== JSON.stringify(right);
}

function withoutPlace({ use, options, whenDown }: Snapshot["store"]): unknown {
  return { use, options, whenDown };
}

function withoutAt({ use, options, instances }: Snapshot["shared"]): unknown {
  return { use, options, instances };
}

function startOf({ files }: Snapshot): Position {
  return { file: files[0]?.end.file ?? "", line: 1, column: 1 };
}
