/**
 * `npm run proof:image`: builds the image of the `Dockerfile` without a registry of images, and runs
 * it as its user on a read-only root. As root on Debian, with `IMAGE_PACKAGES`.
 *
 * BASE and RUNTIME are a Debian that debootstrap makes, with the packaged Node. What only CI can
 * build, another architecture and the distroless base, is not covered.
 */

import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "./chart.ts";
import { runImage } from "./image-run.ts";

const IMAGE_PACKAGES = ["buildah", "debootstrap"];
const SUITE = "bookworm";
const MIRROR = "http://deb.debian.org/debian";
const MINUTE_MS = 60_000;
/** The goal for what the image adds to its base, in MB. */
const MAX_MB = 200;

const folder = mkdtempSync(join(tmpdir(), "sluice-image-"));
const storage = ["--root", join(folder, "storage"), "--runroot", join(folder, "run")];
let isMounted = false;
try {
  requireMachine();
  makeRoot(join(folder, "root"));
  const base = importRoot(join(folder, "root"), "base");
  allowNpm(join(folder, "root"));
  const build = importRoot(join(folder, "root"), "build");
  buildah(
    [
      "build",
      "--format",
      "docker",
      "--isolation",
      "chroot",
      "--layers=false",
      "--build-arg",
      `BASE=${build}`,
    ],
    ["--build-arg", `RUNTIME=${base}`, "--tag", "localhost/sluice", ROOT],
  );
  const container = buildah(["from", "--pull-never", "localhost/sluice"]).trim();
  const root = buildah(["mount", container]).trim();
  isMounted = true;
  const megabytes = Number(
    execFileSync("du", ["-sm", join(root, "app")])
      .toString()
      .split("\t")[0],
  );
  const config = JSON.parse(buildah(["inspect", "--type", "image", "localhost/sluice"])) as {
    readonly Docker: { readonly config: ImageConfig };
  };
  console.log(`the image adds ${megabytes} MB to its base (goal: at most ${MAX_MB})`);
  const faults = await runImage(root, config.Docker.config, folder);
  if (megabytes > MAX_MB) faults.push(`it adds ${megabytes} MB to its base`);
  for (const fault of faults) console.error(`image: ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
} finally {
  if (isMounted) buildah(["umount", "--all"]);
  spawnSync("buildah", [...storage, "rm", "--all"]);
  rmSync(folder, { recursive: true, force: true });
}

/** The part of an image's configuration that says how it runs. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

function requireMachine(): void {
  if (process.getuid?.() !== 0) throw new Error("Run this as root: it mounts file systems.");
  const missing = IMAGE_PACKAGES.filter((name) => spawnSync(name, ["--version"]).error);
  if (missing.length > 0) throw new Error(`Install the packages ${missing.join(" and ")} first.`);
}

/** A Debian with the packaged Node at the place that the distroless image has it. */
function makeRoot(root: string): void {
  console.log("a Debian is made");
  execFileSync("debootstrap", ["--variant=minbase", SUITE, root, MIRROR], {
    stdio: ["ignore", "ignore", "inherit"],
    timeout: 10 * MINUTE_MS,
  });
  mkdirSync(join(root, "nodejs/bin"), { recursive: true });
  const node = join(ROOT, `node_modules/node-linux-${process.arch}/bin/node`);
  cpSync(node, join(root, "nodejs/bin/node"));
}

/** What a build needs and the image does not: npm, with the settings of this machine. */
function allowNpm(root: string): void {
  // The link on the path leads to bin/npm-cli.js of the package.
  const command = execFileSync("sh", ["-c", "command -v npm"]).toString().trim();
  const npm = dirname(dirname(realpathSync(command)));
  cpSync(npm, join(root, "usr/local/lib/node_modules/npm"), { recursive: true });
  const cli = "/usr/local/lib/node_modules/npm/bin";
  for (const name of ["npm", "npx"]) {
    const script = `#!/bin/sh\nexec /nodejs/bin/node ${cli}/${name}-cli.js "$@"\n`;
    writeFileSync(join(root, "usr/local/bin", name), script, { mode: 0o755 });
  }
  execFileSync("ln", ["-s", "/nodejs/bin/node", join(root, "usr/local/bin/node")]);
  const setting = (name: string): string =>
    execFileSync("npm", ["config", "get", name], { stdio: ["ignore", "pipe", "ignore"] })
      .toString()
      .trim();
  const lines = [`registry=${setting("registry")}`];
  const authority = process.env["NODE_EXTRA_CA_CERTS"];
  if (authority !== undefined && existsSync(authority)) {
    cpSync(authority, join(root, "etc/machine-ca.crt"));
    lines.push("cafile=/etc/machine-ca.crt");
  }
  writeFileSync(join(root, "root/.npmrc"), `${lines.join("\n")}\n`);
}

function importRoot(root: string, name: string): string {
  console.log(`the image ${name} is made`);
  const container = buildah(["from", "scratch"]).trim();
  buildah(["add", "--quiet", container, root, "/"]);
  buildah(["commit", "--quiet", "--rm", container, `localhost/${name}`]);
  return `localhost/${name}`;
}

function buildah(...parameters: readonly (readonly string[])[]): string {
  const options = ["--storage-driver", "vfs", ...storage];
  return execFileSync("buildah", [...options, ...parameters.flat()], {
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 15 * MINUTE_MS,
    maxBuffer: 64 * 1_024 * 1_024,
  }).toString();
}
