/**
 * A process that loads the plugin of a folder and prints, as one JSON line, what waits for a
 * restart after each step.
 */

import { rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeLog, type LogLine } from "@sluice/testing";
import { loadPlugins } from "./load.ts";
import { watchPluginFiles } from "./plugin-files.ts";

const [folder = ""] = process.argv.slice(2);
let writes = 0;

/** Writes a file of the folder, later than everything before. */
function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
  const laterSeconds = Date.now() / 1_000 + (writes += 1);
  utimesSync(join(folder, name), laterSeconds, laterSeconds);
}

write("word.ts", 'export { word } from "./deep.ts";');
write("deep.ts", 'export const word: string = "first";');
write("late.ts", "export const isLate = true;");
write("unrelated.ts", "export {};");
write(
  "says.ts",
  `import { word } from "./word.ts";
export default { kind: "step", name: "says", apiVersion: 1, config: {}, create: () => import("./late.ts"), word };`,
);

const lines: LogLine[] = [];
const from = join(folder, "gateway.yaml");
const at = { file: "gateway.yaml", line: 1, column: 1 };
const { definitions, findings } = await loadPlugins([{ specifier: "./says.ts", from, at }]);
write("word.ts", 'export { word } from "./deep.ts"; // changed while the gateway started');
const watch = watchPluginFiles(definitions.plugins, fakeLog(lines), "do this");
const waiting = (): readonly string[] => {
  watch.look();
  return watch.waiting;
};
const early = watch.waiting;
write("deep.ts", 'export const word: string = "second";');
write("unrelated.ts", "export const other = 1;");
write("late.ts", "export const isLate = 1;");
const deep = waiting();
write("deep.ts", 'export const word: string = "first";');
const back = waiting();
await definitions.steps.get("says")?.create({} as never, {} as never);
const loadedLate = waiting();
rmSync(join(folder, "late.ts"));
const removed = waiting();
watch.close();
process.stdout.write(
  JSON.stringify({
    findings,
    early,
    deep,
    back,
    loadedLate,
    removed,
    logged: lines.map(({ message }) => message),
  }),
);
