/** A plugin of an author: made, tested, built, published, installed elsewhere and used. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Scenario } from "./proof.ts";
import { emptyFolder, lineOf, type Place, run, serve, start, stop, write } from "./shell.ts";
import { UMBRELLA } from "../release/workspaces.ts";

const PLUGIN = "sluice-provider-acme";

/** Publishes a plugin in two versions, and returns its folder. */
async function publishPlugin(home: Place): Promise<Place> {
  const author = emptyFolder(home, "author");
  write(author, "package.json", '{ "private": true }\n');
  await run(author, "npm", "install", UMBRELLA);
  await run(author, "npx", "sluice", "new", "provider", "acme");
  const plugin = emptyFolder(author, "provider-acme");
  await run(plugin, "npm", "install");
  await run(plugin, "npm", "test");
  await run(plugin, "npm", "run", "typecheck");
  await run(plugin, "npx", "sluice", "check", "--config", "sandbox/gateway.yaml");
  await run(plugin, "npm", "publish");
  await run(plugin, "npm", "version", "0.2.0", "--no-git-tag-version");
  await run(plugin, "npm", "publish");
  return plugin;
}

/** A gateway file with models of providers that call one upstream. */
function gatewayFile(upstream: string, providers: readonly string[], plugins = ""): string {
  return [
    ...(plugins === "" ? [] : [plugins]),
    "providers:",
    ...providers.map(
      (name) =>
        `  ${name}: { use: ${name}, api_key: "\${env:ACME_API_KEY}", base_url: "${upstream}" }`,
    ),
    "models:",
    ...providers.map(
      (name) =>
        `  - { id: of-${name}, targets: [{ provider: ${name}, model: acme-large, price: { input: 0.5, output: 1.5 } }] }`,
    ),
    "",
  ].join("\n");
}

export const authors: readonly Scenario[] = [
  {
    name: "a plugin made, built, published, installed elsewhere and used, by name and by range",
    async run(home) {
      const plugin = await publishPlugin(home);
      const upstream = start({ ...plugin, environment: { PORT: "0" } }, "npm", ["run", "upstream"]);
      try {
        const [, url = ""] = await lineOf(upstream, /listens on (http:\S+)\./);
        const user = { ...emptyFolder(home, "user"), environment: { ACME_API_KEY: "made-up" } };
        await run(user, "npm", "install", UMBRELLA, PLUGIN);
        for (const plugins of ["", `plugins: ["*", "${PLUGIN}@^0.2.0"]`]) {
          write(user, "gateway.yaml", gatewayFile(url, ["acme"], plugins));
          await run(user, "npx", "sluice", "check");
          await asks(user, ["of-acme"]);
        }
        write(
          user,
          "gateway.yaml",
          gatewayFile(url, ["acme"], `plugins: ["*", "${PLUGIN}@^1.0.0"]`),
        );
        const refused = await run(user, "npx", "sluice", "check").catch((error: unknown) =>
          String(error),
        );
        if (!refused.includes("is installed as 0.2.0"))
          throw new Error(`A wrong range is not refused: ${refused}`);
        // Two versions of one plugin, side by side.
        await run(user, "npm", "install", `acme-old@npm:${PLUGIN}@0.1.0`);
        write(user, "gateway.yaml", gatewayFile(url, ["acme", "acme-old"]));
        await run(user, "npx", "sluice", "check");
        await asks(user, ["of-acme", "of-acme-old"]);
        const versions = ["acme-old", PLUGIN].map((name) => versionOf(user, name));
        if (versions.join() !== "0.1.0,0.2.0")
          throw new Error(`The versions are ${versions.join()}.`);
        return versions.join(" beside ");
      } finally {
        await stop(upstream);
      }
    },
  },
];

async function asks(place: Place, models: readonly string[]): Promise<void> {
  const served = await serve(place, "npx", "sluice", "serve");
  try {
    for (const model of models) {
      const words = await served.ask(model, "Hello");
      if (words === "") throw new Error(`${model} answered nothing.`);
    }
  } finally {
    await served.stop();
  }
}

function versionOf({ folder }: Place, name: string): string {
  const { version } = JSON.parse(
    readFileSync(join(folder, "node_modules", name, "package.json"), "utf8"),
  ) as { readonly version: string };
  return version;
}
