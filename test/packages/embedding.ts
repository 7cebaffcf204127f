/** A program with a gateway inside, from published packages: types and a run. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Scenario } from "./proof.ts";
import { emptyFolder, run, write } from "./shell.ts";
import { ROOT, UMBRELLA } from "../release/workspaces.ts";

/** The compilers whose users the types are for. */
const COMPILERS = ["typescript@7.0.2", "typescript@5.9.3"];

const TSCONFIG = {
  compilerOptions: {
    target: "ES2024",
    lib: ["ES2024", "ESNext.Disposable"],
    module: "nodenext",
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
    types: ["node"],
  },
  include: ["*.ts"],
};

/** The blocks of TypeScript of a document. */
function programsOf(document: string): readonly string[] {
  const text = readFileSync(join(ROOT, document), "utf8");
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, program = ""]) => program);
}

export const embedding: readonly Scenario[] = [
  {
    name: "a program with a gateway inside: types under tsc --strict, and a run",
    async run(home) {
      const place = emptyFolder(home, "embedded");
      write(place, "package.json", '{ "private": true, "type": "module" }\n');
      await run(place, "npm", "install", UMBRELLA, "@sluice/kit", "@types/node@24.10.1");
      const programs = programsOf("docs/embedding.md");
      if (programs.length < 2) throw new Error("docs/embedding.md has no programs.");
      programs.forEach((program, index) => write(place, `program-${index}.ts`, program));
      write(
        place,
        "wrong.ts",
        'import { startGateway } from "sluice";\nvoid startGateway({ config: { gateway: { models: "none" } } });\n',
      );
      write(place, "tsconfig.json", JSON.stringify(TSCONFIG));
      for (const compiler of COMPILERS) {
        await run(place, "npm", "install", "--no-save", compiler);
        const found = await run(place, "npx", "tsc").catch((error: unknown) => String(error));
        const errors = found.split("\n").filter((line) => line.includes("error TS"));
        if (errors.length !== 1 || !errors[0]?.startsWith("wrong.ts(2,"))
          throw new Error(`${compiler}: ${found}`);
      }
      for (const [index] of programs.entries()) {
        const said = await run(place, "node", `program-${index}.ts`);
        if (!said.includes("200")) throw new Error(`program-${index}.ts said ${said}`);
      }
      return `${programs.length} programs, ${COMPILERS.join(" and ")}`;
    },
  },
];
