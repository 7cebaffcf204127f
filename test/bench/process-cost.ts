/** What a process has cost so far, from /proc. Linux only. */

import { readdirSync, readFileSync } from "node:fs";

/** `USER_HZ`: 100 on every Linux that Node runs on. */
const TICK_MS = 10;

/** CPU milliseconds of a living process and its children, all threads, user and system. */
export function cpuMs(pid: number): number {
  return sum(familyOf(pid), (member) => fineCpuMs(member) ?? coarseCpuMs(member));
}

/** Resident memory of a process and its children, in megabytes. */
export function residentMb(pid: number): number {
  return sum(familyOf(pid), residentOf);
}

function residentOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes ?? Number.NaN) / 1024;
}

/** The process and its living descendants. */
function familyOf(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) => childrenOf(pid, thread));
  return [pid, ...children.flatMap(familyOf)];
}

function childrenOf(pid: number, thread: string): number[] {
  try {
    const list = readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8");
    return list.split(" ").filter(Boolean).map(Number);
  } catch (error) {
    // The thread has ended since the folder was read.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return [];
  }
}

function sum(pids: readonly number[], figure: (pid: number) => number): number {
  return pids.reduce((total, pid) => total + figure(pid), 0);
}

/**
 * The scheduler's own account of each thread, in nanoseconds. utime and stime of `stat` are the
 * same time in ticks of 10 ms, too coarse for a short slice. Undefined where the kernel keeps no
 * such account.
 */
function fineCpuMs(pid: number): number | undefined {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const account = (thread: string) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
    const total = threads.reduce((sum, thread) => sum + account(thread), 0);
    return total > 0 ? total / 1e6 : undefined;
  } catch {
    return undefined;
  }
}

function coarseCpuMs(pid: number): number {
  // The name of the process stands in brackets and may hold spaces; utime and stime are the 14th
  // and 15th fields of the line.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
