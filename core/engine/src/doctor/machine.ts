/** The machine: Node, memory, open files, file watchers, the clock. */

import { errorReason } from "@sluice/contract";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, watch, writeFileSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";
import satisfies from "semver/functions/satisfies.js";
import type { Check } from "./check.ts";

/**
 * Versions without the fault by which a header ends the process, as `engines` of package.json says.
 */
const NODE_VERSIONS = "^22.22.2 || >=24.14.1";
const MIN_FILES = 4_096;
const MIN_MEMORY_MB = 256;
const WATCH_MS = 2_000;
const CLOCK_MARGIN_MS = 60_000;
const MB = 1024 * 1024;

/**
 * Looks at the machine. `files` are those of the configuration and of the data folder, which cannot
 * be newer than now.
 */
export async function checkMachine(files: readonly string[]): Promise<Check[]> {
  return [
    node(process.versions.node),
    memory(),
    openFiles(limitsText()),
    await watchers(),
    clock(files, Date.now()),
  ];
}

/** Whether a version of Node is one that the gateway runs on. */
export function node(version: string): Check {
  const isEnough = satisfies(version, NODE_VERSIONS);
  const name = "node";
  if (isEnough) return { name, grade: "ok", found: version };
  return {
    name,
    grade: "fail",
    found: version,
    fix: "Run Node 22.22.2 or newer of 22, or 24.14.1 or newer; npm ci installs one.",
  };
}

function memory(): Check {
  // In a container what counts is its limit, less what this process has.
  const limit = process.constrainedMemory();
  const isLimited = limit > 0 && limit < Number.MAX_SAFE_INTEGER / 2;
  const free = isLimited
    ? Math.min(process.availableMemory(), limit)
    : Math.max(freemem(), process.availableMemory());
  const found = `${Math.round(free / MB)} MB free${isLimited ? ` of ${Math.round(limit / MB)} MB` : ""}`;
  if (free >= MIN_MEMORY_MB * MB) return { name: "memory", grade: "ok", found };
  return {
    name: "memory",
    grade: "warn",
    found,
    fix: `Give it ${MIN_MEMORY_MB} MB: two generations live side by side after an edit.`,
  };
}

function limitsText(): string {
  try {
    return readFileSync("/proc/self/limits", "utf8");
  } catch {
    return "";
  }
}

/** The limit of open files, by the text of `/proc/self/limits`. */
export function openFiles(limits: string): Check {
  const name = "open files";
  const [, soft = ""] = /^Max open files\s+(\S+)/m.exec(limits) ?? [];
  if (soft === "") return { name, grade: "skip", found: "this system does not tell the limit" };
  if (soft === "unlimited" || Number(soft) >= MIN_FILES)
    return { name, grade: "ok", found: `${soft} at most` };
  const fix = `Raise the limit to ${MIN_FILES} or more (ulimit -n, LimitNOFILE): each client and each upstream call is a file.`;
  return { name, grade: "warn", found: `${soft} at most`, fix };
}

async function watchers(): Promise<Check> {
  const name = "file watchers";
  const folder = mkdtempSync(join(tmpdir(), "sluice-doctor-"));
  const fix =
    "Raise fs.inotify.max_user_watches and max_user_instances; without watchers an edit waits for a look every two seconds.";
  try {
    const watcher = watch(folder);
    try {
      const change = once(watcher, "change", { signal: AbortSignal.timeout(WATCH_MS) });
      writeFileSync(join(folder, "file"), "");
      await change;
    } finally {
      watcher.close();
    }
    return { name, grade: "ok", found: "a change is noticed" };
  } catch (error) {
    return { name, grade: "warn", found: `a change is not noticed (${errorReason(error)})`, fix };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A clock that is behind its own files is wrong. */
export function clock(files: readonly string[], nowMs: number): Check {
  const name = "clock";
  const newest = Math.max(
    0,
    ...files.map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0),
  );
  const found = new Date(nowMs).toISOString();
  const fix = "Set the clock, and keep it by NTP: budgets, expiry and signatures go by it.";
  if (newest > nowMs + CLOCK_MARGIN_MS) {
    return {
      name,
      grade: "warn",
      found: `${found}, and a file is of ${new Date(newest).toISOString()}`,
      fix,
    };
  }
  if (nowMs < Date.UTC(2025, 0, 1)) return { name, grade: "fail", found, fix };
  return { name, grade: "ok", found };
}
