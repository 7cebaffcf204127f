/** Gateways with much of one thing: keys, models, pipelines, generations, workers. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KEY_NUMBER } from "../../scenarios.ts";
import type { BenchContext, Launch } from "../../target.ts";
import { insertKeys } from "./insert-keys.ts";
import { applyEdit } from "./apply-edit.ts";
import { launch, type GatewayLaunch } from "./launch.ts";
import { manyPipelines } from "./pipelines.ts";
import type { Checkout } from "./present.ts";

const MODELS = 10_000;
const PIPELINES = 500;
const GENERATIONS = 1_000;
/** Keys that are in use, where not all are. */
const USED_KEYS = 10;
const MANY_KEYS = 1_000_000;
/** A start that reads ten thousand models, or compiles five hundred pipelines. */
const START_LIMIT_MS = 120_000;

type Prepared = GatewayLaunch | { readonly skip: string };
type Prepare = (context: BenchContext) => Promise<Prepared | Launch>;

/** The targets of scale: their names, what they are, and how they start. */
export function scaleTargets(
  checkout: Checkout,
): readonly (readonly [name: string, about: string, prepare: Prepare])[] {
  return [
    ["sluice-ten-keys", "10 keys in the store, all in use", keys(checkout, USED_KEYS, USED_KEYS)],
    [
      "sluice-million-keys",
      "1,000,000 keys in the store, 10 in use",
      keys(checkout, MANY_KEYS, USED_KEYS),
    ],
    [
      "sluice-million-used-keys",
      "1,000,000 keys in the store, each request with another one",
      keys(checkout, MANY_KEYS, MANY_KEYS),
    ],
    [
      "sluice-many-models",
      "10,000 models",
      (context) => launchSlowly(checkout, context, { models: modelLines() }),
    ],
    [
      "sluice-many-pipelines",
      "500 pipelines with two routes each",
      (context) =>
        launchSlowly(checkout, context, {
          pipelines: manyPipelines(join(checkout.root, "pipelines"), context.directory, PIPELINES),
        }),
    ],
    [
      "sluice-many-generations",
      "after 1,000 generations",
      async (context) => {
        const launched = await launch(checkout, context);
        return "skip" in launched ? launched : { ...launched, prepared: () => edit(launched) };
      },
    ],
    [
      "sluice-two-workers",
      "two workers, on one core",
      (context) => launch(checkout, context, { server: "  workers: 2\n" }),
    ],
  ];
}

function keys(checkout: Checkout, stored: number, used: number): Prepare {
  return async (context) => {
    const launched = await launch(checkout, context);
    if ("skip" in launched) return launched;
    return {
      ...launched,
      usedKeys: used,
      headers: { authorization: `Bearer sk-bench-${KEY_NUMBER}` },
      prepared: () =>
        Promise.resolve(
          insertKeys(join(context.directory, "data"), stored, (number) => `sk-bench-${number}`),
        ),
    };
  };
}

async function launchSlowly(...args: Parameters<typeof launch>): Promise<Prepared> {
  const launched = await launch(...args);
  return "skip" in launched ? launched : { ...launched, startLimitMs: START_LIMIT_MS };
}

function modelLines(): string {
  return Array.from(
    { length: MODELS },
    (_, index) =>
      `  - { id: team-model-${index}, targets: [{ provider: openai, model: gpt-4o-mini }] }\n`,
  ).join("");
}

/** Applies so many edits, one after the other. Throws when one is not applied. */
async function edit(launched: GatewayLaunch): Promise<void> {
  const { configFile } = launched;
  const text = readFileSync(configFile, "utf8");
  for (let number = 1; number <= GENERATIONS; number += 1) {
    writeFileSync(
      configFile,
      text.replace(
        "\nprices:",
        `\n  - { id: edited-${number}, targets: [{ provider: openai, model: gpt-4o-mini }] }$&`,
      ),
    );
    // oxlint-disable-next-line no-await-in-loop -- edits that wait become one.
    await applyEdit(launched);
  }
}
