/**
 * The gateway file that `sluice init` writes, from the shipped one: the same providers and models.
 */

import { readFileSync } from "node:fs";
import { SHIPPED_GATEWAY } from "@sluice/engine/config";
import { parse } from "yaml";
import { flow } from "../yaml-text.ts";

type Section = Readonly<Record<string, unknown>>;

interface Model {
  readonly id: string;
  readonly targets: readonly { readonly provider: string }[];
}

/** A provider of the shipped configuration. */
export interface ShippedProvider {
  readonly name: string;
  readonly options: Section;
  /** Variables of the environment without which it is unavailable. */
  readonly variables: readonly string[];
  readonly models: readonly Model[];
}

/** An example of a policy, in force or as a comment. */
export type Policy = "secrets" | "pii";
export const POLICIES: readonly Policy[] = ["secrets", "pii"];

/** What a starter holds. */
export interface StarterChoices {
  /** Providers in force. */
  readonly providers: readonly ShippedProvider[];
  readonly others: readonly ShippedProvider[];
  /** Whether limits and the cache are shared by Redis. */
  readonly hasRedis: boolean;
  readonly policy: Policy | undefined;
  /** The path of the JSON Schema for editors, from the file's folder. */
  readonly schema: string | undefined;
}

/** The plugin whose price the shipped prices.yaml has, and the built-in table has not. */
const FREE = "echo";

function freeModel(model: Model): Model {
  const price = { input: 0, output: 0 };
  return { ...model, targets: model.targets.map((target) => ({ ...target, price })) };
}

/** Variables whose absence switches a provider off; one with a default does not. */
const REQUIRED_VARIABLE = /\$\{env:([A-Z][A-Z0-9_]*)\}/g;

/** The providers of the shipped configuration, with the models that they alone serve. */
export function shippedProviders(): readonly ShippedProvider[] {
  const { providers, models } = parse(readFileSync(SHIPPED_GATEWAY, "utf8")) as {
    readonly providers: Readonly<Record<string, Section>>;
    readonly models: readonly Model[];
  };
  return Object.entries(providers).map(([name, options]) => ({
    name,
    options,
    variables: [...JSON.stringify(options).matchAll(REQUIRED_VARIABLE)].map(
      ([, variable = ""]) => variable,
    ),
    models: models
      .filter(({ targets }) => targets.every(({ provider }) => provider === name))
      .map((model) => (options.use === FREE ? freeModel(model) : model)),
  }));
}

/** The text of the file. */
export function starter(choices: StarterChoices): string {
  const { providers, others, schema } = choices;
  return [
    ...(schema === undefined ? [] : [`# yaml-language-server: $schema=${schema}`, "#"]),
    "# The gateway. An edit applies while it runs; `sluice check` reports file, line and column of every fault.",
    "# Any value may be ${env:NAME}, ${env:NAME:-default} or ${file:path}. Credentials must be written that way.",
    "version: 1",
    "",
    "# Upstream services. One whose variable is not set is unavailable, and its models are not listed.",
    "providers:",
    ...providers.map(({ name, options }) => `  ${name}: ${flow(options)}`),
    ...others.map(({ name, options }) => `  # ${name}: ${flow(options)}`),
    "",
    "# What clients may request. In openai/* the rest of the id is the upstream's model.",
    "models:",
    ...providers.flatMap(({ models }) => models.map((model) => `  - ${flow(model)}`)),
    ...others.flatMap(({ models }) => models.map((model) => `  # - ${flow(model)}`)),
    "",
    ...store(choices),
    "",
    ...policy(choices),
    "",
    "# Without `plugins:` the installed ones are loaded, without `pipelines:` the shipped ones serve:",
    "# `sluice eject chat` copies one here to edit.",
    "",
    "end_of_config: true              # the last line: a file without it counts as truncated",
    "",
  ].join("\n");
}

function store({ hasRedis }: StarterChoices): readonly string[] {
  const redis = 'shared: { use: redis, url: "${env:REDIS_URL}" }';
  return [
    "# Keys, teams and spend rows, in the folder `data` below the start folder.",
    "store: { use: sqlite }",
    "# Limits, budgets and the cache: in this process, or in a Redis that several gateways share.",
    hasRedis ? redis : `# ${redis}`,
  ];
}

const SECTIONS: Readonly<Record<Policy, { readonly what: string; readonly line: string }>> = {
  secrets: {
    what: "credentials in prompts are masked before a provider sees them",
    line: "  secrets: { use: secrets, action: mask, default_on: true }",
  },
  pii: {
    what: "the provider sees [EMAIL_1], the client its address",
    line: "  pii: { use: pii, action: restore, actions: { card: block }, default_on: true }",
  },
};

function policy({ policy: chosen }: StarterChoices): readonly string[] {
  const { what, line } = SECTIONS[chosen ?? "secrets"];
  const lines = ["guardrails:", line];
  return [
    `# A policy of every request: ${what}.`,
    ...(chosen === undefined ? lines.map((text) => `# ${text}`) : lines),
    "# A key with a budget, its secret from the environment. Most keys live in the store: sluice keys create.",
    "# keys:",
    '#   - { alias: ci, key: "${env:CI_KEY}", models: [echo], max_budget: 5, budget_duration: 1d, rpm: 60 }',
  ];
}
