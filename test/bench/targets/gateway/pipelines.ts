/** Copies of the shipped pipelines with another chat, or with many more files. */

import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A copy whose chat caches requests that do not ask for it. Returns its folder. */
export function cachingPipelines(shippedFolder: string, directory: string): string {
  return withChat(shippedFolder, directory, (shipped) => {
    const caching = shipped.replace("mode: on_request", "mode: always");
    if (caching === shipped)
      throw new Error("The shipped chat pipeline has no step cache with `mode: on_request`.");
    return caching;
  });
}

/** A copy whose chat serves the legacy completions too. */
export function completingPipelines(shippedFolder: string, directory: string): string {
  return withChat(shippedFolder, directory, (shipped) => {
    const route = "- { route: POST /v1/completions, face: completions }";
    const opened = shipped.replace(`# ${route}`, route);
    if (opened === shipped)
      throw new Error("The shipped chat pipeline has no route of completions as a comment.");
    return opened;
  });
}

/** A copy whose chat has these steps alone. */
export function pipelinesOf(
  shippedFolder: string,
  directory: string,
  steps: readonly string[],
): string {
  const list = steps.map((step) => `  - ${step}\n`).join("");
  return withChat(
    shippedFolder,
    directory,
    () =>
      `version: 1\npipeline: chat\nroutes: [POST /v1/chat/completions]\noperation: chat\ndeadline: 600s\nsteps:\n${list}`,
  );
}

/** A copy with so many more pipelines, each with the steps of chat and two routes of its own. */
export function manyPipelines(shippedFolder: string, directory: string, count: number): string {
  const folder = withChat(shippedFolder, directory, (shipped) => shipped);
  const shipped = readFileSync(join(folder, "chat.yaml"), "utf8");
  const steps = /^steps:.*\n(?: .*\n|#.*\n)+/m.exec(shipped)?.[0];
  if (steps === undefined) throw new Error("The shipped chat pipeline has no steps.");
  for (let index = 0; index < count; index += 1) {
    const name = `team-${index}`;
    const routes = `[POST /${name}/v1/chat/completions, "POST /{place}/${name}/chat"]`;
    writeFileSync(
      join(folder, `${name}.yaml`),
      `version: 1\npipeline: ${name}\nroutes: ${routes}\noperation: chat\ndeadline: 600s\n${steps}`,
    );
  }
  return folder;
}

/** A copy without tests. */
export function untestedPipelines(folder: string, directory: string): string {
  const copied = join(directory, "untested");
  cpSync(folder, copied, { recursive: true });
  for (const name of readdirSync(copied)) {
    const file = join(copied, name);
    writeFileSync(file, readFileSync(file, "utf8").replace(/^tests:\n(?:[ #].*\n|\n)*/m, ""));
  }
  return copied;
}

function withChat(
  shippedFolder: string,
  directory: string,
  chatOf: (shipped: string) => string,
): string {
  const folder = join(directory, "pipelines");
  cpSync(shippedFolder, folder, { recursive: true });
  const file = join(folder, "chat.yaml");
  writeFileSync(file, chatOf(readFileSync(file, "utf8")));
  return folder;
}
