/**
 * Validation: schemas and plugins first, then what one entry says of another. All findings, of
 * every file.
 */

import type { JsonSchema } from "@sluice/contract";

import type { Path } from "../files/document.ts";
import { endMarkFaults } from "../files/end-mark.ts";
import type { Finding } from "../finding.ts";
import { gatewayFaults } from "./gateway-rules.ts";
import { elsewhereIn } from "./key-places.ts";
import { formatPath, setAtPath, valueAtPath } from "../files/path.ts";
import type { Pieces } from "../files/slices.ts";
import { pipelineFaults } from "./pipeline-rules.ts";
import { checkPlugin, type Definitions, extensionFaults, keyHeadersOf } from "./plugin-section.ts";
import { priceFault } from "../prices/section.ts";
import type { ResolvedDocument } from "../files/references.ts";
import { gatewaySchema } from "../schema/gateway.ts";
import { pipelineSchema, stepSchema } from "../schema/pipeline.ts";
import { pricesSchema, type PriceSection } from "../schema/prices.ts";
import type { ActiveSection } from "../schema/step-use.ts";
import { faceFaults } from "./faces.ts";
import { checkSection, checkWhole, findingOf } from "./section.ts";
import { activeFaults } from "./step-use.ts";

/** Checks gateway.yaml, in place. */
export function* validateGateway(
  gateway: ResolvedDocument,
  definitions: Definitions,
): Pieces<Finding[]> {
  const findings = checkFile(gateway, gatewaySchema);
  const use = function* (
    path: Path,
    kind: "provider" | "guardrail" | "store" | "state",
  ): Pieces<void> {
    yield;
    const value = valueAtPath(gateway.value, path);
    const name = valueAtPath(value, ["use"]);
    if (!isObject(value) || typeof name !== "string" || name === "") return;
    const skipCheck = gateway.references.some(
      (reference) => reference.value === undefined && isBelow(reference.path, path),
    );
    findings.push(
      ...checkPlugin(gateway, definitions, {
        kind,
        name,
        namePath: [...path, "use"],
        base: path,
        value,
        skipCheck,
      }),
    );
  };
  yield* use(["store"], "store");
  yield* use(["shared"], "state");
  for (const name of keysOf(valueAtPath(gateway.value, ["providers"])))
    yield* use(["providers", name], "provider");
  for (const name of keysOf(valueAtPath(gateway.value, ["guardrails"])))
    yield* use(["guardrails", name], "guardrail");
  findings.push(...extensionFaults(gateway, definitions));
  yield;
  return [
    ...findings,
    ...gatewayFaults(gateway.value, keyHeadersOf(definitions)).map((fault) =>
      findingOf(gateway, fault),
    ),
  ];
}

/**
 * Checks all pipeline files, in place (bare steps take their long form): each one, then what they
 * say of each other. Without a gateway file no plugin is known: the steps are then left unchecked.
 */
export function* validatePipelines(
  pipelines: readonly ResolvedDocument[],
  definitions: Definitions | undefined,
): Pieces<Finding[]> {
  const findings: Finding[] = [];
  for (const pipeline of pipelines) {
    yield;
    findings.push(...checkFile(pipeline, pipelineSchema));
    if (definitions !== undefined) findings.push(...faceFaults(pipeline, definitions));
    const steps = valueAtPath(pipeline.value, ["steps"]);
    if (definitions === undefined || !Array.isArray(steps)) continue;
    for (const index of steps.keys()) {
      yield;
      findings.push(...checkStep(pipeline, definitions, index));
    }
  }
  return [...findings, ...pipelineFaults(pipelines)];
}

/** Checks prices.yaml, in place. */
export function validatePrices(prices: ResolvedDocument): Finding[] {
  const findings = checkFile(prices, pricesSchema);
  if (findings.length > 0) return findings;
  // No finding and no section: an unresolved reference stands in its place, and has its finding
  // already.
  const sections = valueAtPath(prices.value, ["prices"]);
  for (const [name, section] of isObject(sections)
    ? Object.entries(sections as Readonly<Record<string, PriceSection>>)
    : []) {
    const path = ["prices", name];
    const where = `\`${formatPath(path)}\``;
    if (!/^[a-z0-9-]+\/./.test(name)) {
      const fix = "write the plugin's name, a slash and the model: `openai/gpt-4o`";
      findings.push(
        findingOf(prices, {
          path,
          on: "key",
          message: `${where} names no provider plugin and model`,
          fix,
        }),
      );
    }
    const fault = priceFault(section);
    if (fault !== undefined)
      findings.push(
        findingOf(prices, {
          path,
          on: "key",
          message: `${where} ${fault.message}`,
          fix: fault.fix,
        }),
      );
  }
  return findings;
}

/** A file by itself: its sections, and that nothing follows its end mark. */
function checkFile(resolved: ResolvedDocument, schema: JsonSchema): Finding[] {
  const marked = endMarkFaults(resolved.document).map((fault) => findingOf(resolved, fault));
  return [...(emptyFile(resolved) ?? checkWhole(resolved, schema, elsewhereIn(schema))), ...marked];
}

function checkStep(pipeline: ResolvedDocument, definitions: Definitions, index: number): Finding[] {
  const path = ["steps", index];
  const step = valueAtPath(pipeline.value, path);
  if (typeof step === "string" && step !== "") {
    // From here on the step has its long form, with the defaults that the check fills in.
    const options = {};
    setAtPath(pipeline.value, path, { use: step, with: options });
    return checkPlugin(pipeline, definitions, {
      kind: "step",
      name: step,
      namePath: path,
      base: path,
      value: options,
    });
  }
  if (!isObject(step)) {
    if (step === null) return [];
    const message = `\`${formatPath(path)}\` is neither a step's name nor a section with \`use\``;
    return [
      findingOf(pipeline, {
        path,
        on: "value",
        message,
        fix: "write `- name`, or `- { use: name, with: { … } }`",
      }),
    ];
  }
  const asKey = stepAsKey(pipeline, path, step, definitions);
  if (asKey !== undefined) return [asKey];
  const findings = checkSection(pipeline, path, stepSchema, step, (at) =>
    optionOf(step, String(at.at(-1)), definitions),
  );
  const name = valueAtPath(step, ["use"]);
  const value = valueAtPath(step, ["with"]);
  // Options beside `with` are one slip; that `with` lacks them would be a second finding for it.
  if (findings.length > 0 && valueAtPath(pipeline.document.value, [...path, "with"]) === undefined)
    return findings;
  if (typeof name !== "string" || name === "" || !isObject(value)) return findings;
  const active = valueAtPath(step, ["active"]);
  if (findings.length === 0 && isObject(active))
    findings.push(
      ...activeFaults(path, active as ActiveSection).map((fault) => findingOf(pipeline, fault)),
    );
  const use = {
    kind: "step",
    name,
    namePath: [...path, "use"],
    base: [...path, "with"],
    value,
  } as const;
  return [...findings, ...checkPlugin(pipeline, definitions, use)];
}

/** The finding of `- fallback: { max: 2 }`: a step's name is no key. */
function stepAsKey(
  pipeline: ResolvedDocument,
  path: Path,
  step: object,
  definitions: Definitions,
): Finding | undefined {
  if (Object.hasOwn(step, "use")) return undefined;
  const name = Object.keys(step).find((key) => definitions.has(`step/${key}`));
  if (name === undefined) return undefined;
  const at = [...path, name];
  const message = `\`${formatPath(at)}\` is a step's name, and stands as a key`;
  const fix = `write \`- { use: ${name}, with: { … } }\``;
  return findingOf(pipeline, { path: at, on: "key", message, fix });
}

/** What to do about an option of a step that stands beside `with`. */
function optionOf(step: object, key: string, definitions: Definitions): string | undefined {
  const name = valueAtPath(step, ["use"]);
  const options = definitions.get(`step/${String(name)}`)?.config;
  const properties = valueAtPath(options, ["properties"]);
  return isObject(properties) && Object.hasOwn(properties, key)
    ? `move it: \`with: { ${key}: … }\``
    : undefined;
}

/**
 * The finding of a file that holds nothing; without it every section would be reported as missing.
 */
function emptyFile(resolved: ResolvedDocument): Finding[] | undefined {
  if (resolved.value !== null) return undefined;
  return [
    findingOf(resolved, {
      path: [],
      on: "key",
      message: "the file is empty",
      fix: "begin it with `version: 1`",
    }),
  ];
}

function isBelow(path: Path, base: Path): boolean {
  return base.every((part, index) => path[index] === part);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function keysOf(value: unknown): readonly string[] {
  return isObject(value) ? Object.keys(value) : [];
}
