import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createKysely } from "./dialect.ts";
import { migrate } from "./migrate.ts";
import { openDatabase } from "./open-database.ts";
import { runHere } from "./statements.ts";
import { WriterThread } from "./writer-thread.ts";

test("writes whatever is given while the thread idles, ends and starts again", async () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-writer-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, "writer.db");
  const database = openDatabase(file, "normal");
  await migrate(database, createKysely(runHere(database)), file);
  database.exec("create table seen (number integer primary key)");
  const complaints: string[] = [];
  const complain = (message: string) => void complaints.push(message);
  const log = { debug: () => undefined, info: () => undefined, warn: complain, error: complain };
  const thread = new WriterThread(file, "normal", log, 0);
  const numbers = Array.from({ length: 12 }, (_, index) => index);
  for (const number of numbers) {
    await thread.run("insert into seen values (?)", [number]);
    // At once, after the end was asked for, and after the thread has ended.
    await pause((number % 3) * 20);
  }
  await thread.stop();
  expect(database.prepare("select number from seen order by number").all()).toEqual(
    numbers.map((number) => ({ number })),
  );
  expect(complaints).toEqual([]);
  database.close();
});
