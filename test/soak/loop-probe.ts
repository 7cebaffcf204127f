/**
 * A probe inside a process under test: what one turn of its event loop takes of the thread's CPU at
 * most. SIGUSR2 prints it and begins anew.
 */

/**
 * A timer that is due in every turn sees the CPU of each turn; turns that are shorter than this are
 * seen together.
 */
const STEP_MS = 1;

let most = 0;
let last = process.threadCpuUsage();

const look = (): void => {
  const { user, system } = process.threadCpuUsage(last);
  last = process.threadCpuUsage();
  most = Math.max(most, user + system);
};

setInterval(look, STEP_MS).unref();

process.on("SIGUSR2", () => {
  look();
  process.stderr.write(`loop ${JSON.stringify({ mostMs: most / 1_000 })}\n`);
  most = 0;
});
