/** What a plugin author does after `sluice new`, as commands that can be pasted. */

import { IS_INSTALLED } from "./manifest.ts";
import type { Naming } from "./template.ts";

/** Where the package lies. */
export interface Place {
  /** The absolute path. */
  readonly path: string;
  /** As the author would name it from where the command ran. */
  readonly folder: string;
  readonly isInside: boolean;
}

/** The lines to print. */
export function nextSteps(naming: Naming, place: Place): string {
  const steps = place.isInside ? insideSteps(naming, place) : outsideSteps(naming, place);
  const width = Math.max(...steps.map(([command]) => command.length));
  const commands = steps.map(([command, why]) => `  ${command.padEnd(width)}  # ${why}`);
  return [
    "Next:",
    ...commands,
    "",
    "What a gateway file of yours says to have it:",
    ...yamlLines(naming, place),
  ].join("\n");
}

function outsideSteps({ kind, name }: Naming, { folder }: Place): [command: string, why: string][] {
  const config = "--config sandbox/gateway.yaml";
  return [
    [`cd ${quoted(folder)}`, "the plugin, and a gateway to try it with"],
    [
      "npm install",
      IS_INSTALLED
        ? "fetches the kit, the compiler and Sluice"
        : "links the Sluice that wrote it; fetches nothing",
    ],
    ["npm test", "passes as it is"],
    ...upstream(kind, name, "npm run upstream &"),
    [`npx sluice check ${config}`, "what is wrong with the gateway file, and where"],
    [`npx sluice serve ${config}`, "prints a request to paste"],
  ];
}

function insideSteps(
  { kind, name, packageName }: Naming,
  { folder }: Place,
): [command: string, why: string][] {
  const config = `--config ${folder}/sandbox/gateway.yaml`;
  return [
    [`npm test -- ${folder}`, "passes as it is"],
    ["npm install", `so that YAML can say ${packageName}`],
    [
      `npx tsc -b ${folder}`,
      `types; for npm run typecheck add { "path": "${folder}" } to tsconfig.json`,
    ],
    ...upstream(kind, name, `npm run -s upstream -w ${folder} &`),
    [`npm run -s sluice -- check ${config}`, "what is wrong with the gateway file, and where"],
    [`npm run -s sluice -- serve ${config}`, "prints a request to paste"],
  ];
}

/** Only a provider has an upstream, and a credential. */
function upstream(
  kind: Naming["kind"],
  name: string,
  command: string,
): [command: string, why: string][] {
  if (kind !== "provider") return [];
  return [
    [command, "answers as the fixtures say, in the upstream's place"],
    [`export ${variable(name)}=any`, "the real one later"],
  ];
}

function yamlLines({ kind, name, packageName }: Naming, { path, isInside }: Place): string[] {
  const plugin = isInside ? `${packageName}@^0.1.0` : `${path}/src/index.ts`;
  const lines = ["plugins:", `  - ${JSON.stringify(plugin)}`];
  switch (kind) {
    case "provider":
      return [
        ...lines,
        "providers:",
        `  ${name}: { use: ${name}, api_key: "\${env:${variable(name)}}" }`,
        "models:",
        `  - { id: ${name}-large, targets: [{ provider: ${name}, model: ${name}-large }] }`,
      ];
    case "guardrail":
      return [...lines, "guardrails:", `  ${name}: { use: ${name}, default_on: true }`];
    case "step":
      return [...lines, "# and in a file of pipelines/:", "steps:", `  - ${name}`];
    case "face":
      return [
        ...lines,
        "# and in a file of pipelines/ with `operation: chat`:",
        "routes:",
        `  - { route: POST /v1/${name}, face: ${name} }`,
      ];
    default:
      return kind satisfies never;
  }
}

/** The variable of the environment that a template reads its credential from. */
function variable(name: string): string {
  return `${name.replaceAll("-", "_").toUpperCase()}_API_KEY`;
}

function quoted(path: string): string {
  return /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
