/** `sluice schema`: JSON Schemas for editors, made from the definitions. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkConfig } from "@sluice/engine/check";
import { editorSchemas } from "@sluice/engine/config";
import { EXIT } from "../exit.ts";

/** Options of the command. */
export interface SchemaOptions {
  readonly config: string;
  readonly out: string;
  readonly check?: boolean;
}

export async function schema({ config, out, check = false }: SchemaOptions): Promise<void> {
  const { definitions } = await checkConfig({
    path: config,
    cwd: process.cwd(),
    environment: process.env,
  });
  for (const [name, text] of Object.entries(editorSchemas(definitions.all))) {
    const path = join(out, name);
    const isFresh = existsSync(path) && readFileSync(path, "utf8") === text;
    if (isFresh) continue;
    if (check) {
      console.log(`${path} is not up to date: run sluice schema.`);
      process.exitCode = EXIT.findings;
      continue;
    }
    mkdirSync(out, { recursive: true });
    writeFileSync(path, text);
    console.log(`wrote ${path}`);
  }
}
