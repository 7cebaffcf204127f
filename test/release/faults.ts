/**
 * What must hold before packages are published: versions, the changelog, the licence, the contents
 * of each package.
 */

import semver from "semver";

/** A package as npm would publish it. */
export interface PackedPackage {
  readonly manifest: Manifest;
  /** Paths within the package, as `npm pack --dry-run --json` lists them. */
  readonly files: readonly string[];
}

/** The members of a package.json that a release depends on. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Files that every package has. */
const REQUIRED_FILES = ["CHANGELOG.md", "LICENSE", "README.md", "package.json"];

/** Files of tests, which no user of a package needs. */
const TEST_FILE = /\.(?:test|bench)\.(?:js|d\.ts|ts)(?:\.map)?$/;

/** Faults of a version's section in the changelog. `version` is `1.2.0` or `v1.2.0`. */
export function changelogFaults(version: string, changelog: string): readonly string[] {
  const plain = version.replace(/^v/, "");
  if (semver.valid(plain) === null) return [`${version} is not a version: write it as 1.2.0.`];
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`[${plain}]`));
  if (section === undefined)
    return [`CHANGELOG.md has no section [${plain}]: rename [Unreleased] and add the date.`];
  const faults = [];
  if (!/^\[[^\]]+\] - \d{4}-\d{2}-\d{2}$/m.test(section))
    faults.push(
      `The section [${plain}] of CHANGELOG.md has no date: "## [${plain}] - 2026-01-31".`,
    );
  if (!/^- /m.test(section)) faults.push(`The section [${plain}] of CHANGELOG.md has no entry.`);
  return faults;
}

/**
 * Faults of the packages: their licence, their files, and the versions that they ask of each other.
 */
export function packageFaults(packages: readonly PackedPackage[]): readonly string[] {
  const versions = new Map(packages.map(({ manifest }) => [manifest.name, manifest.version]));
  return packages.flatMap(({ manifest, files }) => [
    ...(manifest.license === "Apache-2.0"
      ? []
      : [`${manifest.name}: the license is not Apache-2.0.`]),
    ...(semver.valid(manifest.version) === null
      ? [`${manifest.name}: ${manifest.version} is not a version.`]
      : []),
    ...REQUIRED_FILES.filter((name) => !files.includes(name)).map(
      (name) => `${manifest.name}: ${name} is not in the package.`,
    ),
    ...entryPoints(manifest)
      .filter((path) => !files.includes(path))
      .map((path) => `${manifest.name}: package.json names ${path}, which is not in the package.`),
    ...files
      .filter((path) => TEST_FILE.test(path))
      .slice(0, 1)
      .map((path) => `${manifest.name}: the test ${path} is in the package.`),
    ...dependencyFaults(manifest, versions),
  ]);
}

function entryPoints({ exports = {}, bin = {} }: Manifest): readonly string[] {
  const modules = Object.values(exports).flatMap((target) =>
    typeof target === "string" ? [target] : Object.values(target),
  );
  return [...modules, ...Object.values(bin)].map((path) => path.replace(/^\.\//, ""));
}

function dependencyFaults(
  { name, dependencies = {}, peerDependencies = {} }: Manifest,
  versions: ReadonlyMap<string, string>,
): readonly string[] {
  return Object.entries({ ...dependencies, ...peerDependencies }).flatMap(([dependency, range]) => {
    const version = versions.get(dependency);
    if (version === undefined || semver.satisfies(version, range)) return [];
    return [
      `${name}: ${dependency}@${range} does not accept ${version}, the version of this release.`,
    ];
  });
}
