/** Records whose alias another one has: they are imported without it. */

interface Aliased {
  readonly alias: string | null;
}

/** Inserts a record; once more without its alias where another one has it. */
export async function withoutAlias<Record extends Aliased, Outcome extends string>(
  record: Record,
  field: string,
  write: (record: Record) => Promise<Outcome>,
): Promise<{ readonly outcome: Outcome; readonly changed: readonly string[] }> {
  const outcome = await write(record);
  if (outcome !== "alias") return { outcome, changed: [] };
  const changed = [`${field}: another one has it; this one has none`];
  return { outcome: await write({ ...record, alias: null }), changed };
}
