/** The lint `fallback_capability`: a fallback lacks a capability of the model that names it. */

import type {
  Capabilities,
  FallbackClass,
  Feature,
  Host,
  ModelMode,
  Operation,
} from "@sluice/contract";
import { seedDirectory } from "../config/prices/seed-models.ts";
import type { ModelSettings, TargetSettings } from "../config/snapshot.ts";
import { withPlaceholders } from "../registry/placeholders.ts";
import type { LintFinding, LintSubject } from "./rule.ts";

/** Each feature with its key under `info` (LiteLLM's name) and its name in messages. */
const FEATURES: Readonly<Record<Feature, { readonly key: string; readonly words: string }>> = {
  tools: { key: "supports_function_calling", words: "tool calls" },
  images: { key: "supports_vision", words: "images in the prompt" },
  audio: { key: "supports_audio_input", words: "audio in the prompt" },
  documents: { key: "supports_pdf_input", words: "documents in the prompt" },
  speech: { key: "supports_audio_output", words: "audio in the reply" },
  schema: { key: "supports_response_schema", words: "replies in a JSON schema" },
};
const OPERATIONS: Readonly<Record<ModelMode, Operation>> = {
  chat: "chat",
  embedding: "embeddings",
  image: "images",
};

/** The known abilities of a model. `undefined`: unknown. */
interface Abilities {
  readonly features: Readonly<Record<Feature, boolean | undefined>>;
  readonly streaming: boolean | undefined;
  /** The largest context window of its targets, in tokens. */
  readonly contextTokens: number | undefined;
}

/** Reports each fallback that lacks capabilities, with all of them. */
export function weakerFallbacks(subject: LintSubject): LintFinding[] {
  const { models } = subject.snapshot;
  if (models.every(({ fallbacks }) => fallbacks === undefined)) return [];
  const providers = providerCapabilities(subject);
  const abilities = new Map<ModelSettings, Abilities>();
  const of = (model: ModelSettings): Abilities => {
    const known = abilities.get(model) ?? abilitiesOf(model, providers, subject);
    abilities.set(model, known);
    return known;
  };
  return models.flatMap((model) => {
    const lists = Object.entries(model.fallbacks ?? {}) as [FallbackClass, readonly string[]][];
    const names = [...new Set(lists.flatMap(([, ids]) => ids))];
    return names.flatMap((name): LintFinding[] => {
      const fallback = models.find(({ id }) => id === name);
      if (fallback === undefined) return [];
      const isForLongPrompts = lists.some(
        ([list, ids]) => list === "context_window" && ids.includes(name),
      );
      const lost = losses(model, fallback, isForLongPrompts, of);
      if (lost.length === 0) return [];
      const message = `The fallback ${name} of the model ${model.id} lacks: ${lost.join("; ")}.`;
      return [
        {
          at: model.at,
          message,
          fix: `Name another model under \`fallbacks\`, or declare the abilities of ${name} in its \`info\`.`,
        },
      ];
    });
  });
}

function losses(
  model: ModelSettings,
  fallback: ModelSettings,
  isForLongPrompts: boolean,
  of: (model: ModelSettings) => Abilities,
): string[] {
  const before = of(model);
  const after = of(fallback);
  const lost = (Object.keys(FEATURES) as Feature[])
    .filter((feature) => before.features[feature] !== false && after.features[feature] === false)
    .map((feature) => FEATURES[feature].words);
  if (before.streaming !== false && after.streaming === false) lost.push("streaming");
  const { contextTokens: most } = before;
  const { contextTokens: left } = after;
  if (most !== undefined && left !== undefined) {
    if (isForLongPrompts && left <= most)
      lost.push(`a longer context (it has ${left} tokens, the model ${most})`);
    else if (left < most) lost.push(`context (it has ${left} tokens, the model ${most})`);
  }
  return lost;
}

function abilitiesOf(
  { targets, info, mode }: ModelSettings,
  providers: ReadonlyMap<string, Capabilities>,
  { snapshot, definitions }: LintSubject,
): Abilities {
  const best = (
    can: (target: TargetSettings, capabilities: Capabilities) => boolean | undefined,
  ): boolean | undefined => {
    const answers = targets.map((target) => {
      const capabilities = providers.get(target.provider);
      if (capabilities === undefined) return undefined;
      return capabilities.operations.includes(OPERATIONS[mode]) ? can(target, capabilities) : false;
    });
    if (answers.includes(true)) return true;
    return answers.includes(undefined) ? undefined : false;
  };
  const feature = (name: Feature): boolean | undefined => {
    const own = best(({ model }, capabilities) =>
      name === "tools" && !capabilities.tools
        ? false
        : (capabilities.supports?.(name, model) ?? undefined),
    );
    const said = info?.supports[FEATURES[name].key];
    return own === false && name === "tools" ? false : (said ?? own);
  };
  const names = Object.keys(FEATURES) as Feature[];
  const windows = targets.flatMap(({ provider, model }) => {
    const use = snapshot.providers.find(({ name }) => name === provider)?.use ?? "";
    return seedDirectory.find(definitions.ownName("provider", use), model)?.contextWindow ?? [];
  });
  const known = windows.length === 0 ? undefined : Math.max(...windows);
  return {
    features: Object.fromEntries(
      names.map((name) => [name, feature(name)]),
    ) as Abilities["features"],
    streaming: best((_target, { streaming }) => streaming),
    contextTokens: info?.maxInputTokens ?? known,
  };
}

/**
 * The capabilities that each provider declares. A provider that cannot be created without its
 * credential is left out.
 */
function providerCapabilities({
  snapshot,
  definitions,
}: LintSubject): ReadonlyMap<string, Capabilities> {
  const known = new Map<string, Capabilities>();
  for (const provider of snapshot.providers) {
    const { name, use, options } = withPlaceholders(provider, definitions);
    try {
      const made = definitions.providers.get(use)?.create(options as never, NO_HOST);
      if (made !== undefined) known.set(name, made.capabilities);
    } catch {
      // The provider needs more than its options: its capabilities stay unknown.
    }
  }
  return known;
}

/** Translations are pure. A provider that uses its host while it is created is left out. */
const NO_HOST = new Proxy({} as Host, {
  get: () => {
    throw new Error("There is no host for a lint.");
  },
});
