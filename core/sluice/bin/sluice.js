#!/usr/bin/env node
// The command of @sluice/cli. Started from here, it finds the plugins among the dependencies of this package.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const manifest = createRequire(import.meta.url).resolve("@sluice/cli/package.json");
await import(pathToFileURL(join(dirname(manifest), "bin/sluice.js")).href);
