/**
 * Providers: what entries of `model_list` say of where and with whose credential they are served,
 * each combination once.
 */

import { GUESSES, PREFIXES, type PrefixRow } from "./provider-table.ts";
import { optionsOf } from "./provider-options.ts";
import { timeoutsOf } from "./try-timeouts.ts";
import { type ImportSource, type Members, type SourcePath, textOf } from "./source.ts";

/** A provider of ours. */
export interface ImportedProvider {
  readonly name: string;
  readonly package: string;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Where an entry is served. */
export interface ImportedPlace {
  readonly provider: string;
  /** The model's name there. */
  readonly model: string;
  /** The members of `litellm_params` that were understood. */
  readonly read: readonly string[];
}

/** The providers of the imported entries. Equal addresses and credentials are one provider. */
export class ImportedProviders {
  readonly #byOptions = new Map<string, ImportedProvider>();
  readonly #source: ImportSource;
  readonly #timeouts: Members;

  /** `timeouts` are those of entries that say nothing. */
  constructor(source: ImportSource, timeouts: Members) {
    this.#source = source;
    this.#timeouts = timeouts;
  }

  get list(): readonly ImportedProvider[] {
    return [...this.#byOptions.values()];
  }

  /**
   * The provider and model of an entry; `undefined`, with a note, for a prefix that no provider
   * here serves.
   */
  place(params: Members, path: SourcePath): ImportedPlace | undefined {
    const written = textOf(params["model"]) ?? "";
    const { prefix, model } = split(written, textOf(params["custom_llm_provider"]));
    const row = PREFIXES[prefix];
    if (row === undefined) {
      this.#source.note("missing", [...path, "model"], `no plugin serves ${prefix}/ (${written})`);
      return undefined;
    }
    const made = optionsOf(row, prefix, model, { params, source: this.#source, path });
    const options = {
      use: row.use,
      ...(row.preset === undefined ? {} : { preset: row.preset }),
      ...made.options,
      ...timeoutsOf(params, this.#timeouts),
    };
    const key = JSON.stringify(options);
    let provider = this.#byOptions.get(key);
    if (provider === undefined) {
      provider = {
        name: this.#nameFor(row, made.package === "compatible" ? "custom" : prefix),
        package: made.package ?? row.package,
        options,
      };
      this.#byOptions.set(key, provider);
    }
    return {
      provider: provider.name,
      model: made.model ?? model,
      read: ["model", "custom_llm_provider", "timeout", "stream_timeout", ...made.read],
    };
  }

  #nameFor(row: PrefixRow, prefix: string): string {
    const stem =
      row.preset === undefined || row.preset === "custom" ? (NAMES[prefix] ?? prefix) : row.preset;
    const base = stem.replaceAll("_", "-");
    const taken = new Set([...this.#byOptions.values()].map(({ name }) => name));
    for (let count = 1; ; count += 1) {
      const name = count === 1 ? base : `${base}-${count}`;
      if (!taken.has(name)) return name;
    }
  }
}

const NAMES: Readonly<Record<string, string>> = {
  vertex_ai: "vertex",
  vertex_ai_beta: "vertex",
  bedrock_converse: "bedrock",
  azure_text: "azure",
  cohere_chat: "cohere",
};

function split(written: string, named: string | undefined): { prefix: string; model: string } {
  const slash = written.indexOf("/");
  const first = slash < 0 ? "" : written.slice(0, slash);
  if (named !== undefined && named !== first) return { prefix: named, model: written };
  if (slash > 0 && (PREFIXES[first] !== undefined || /^[a-z][a-z0-9_]*$/.test(first))) {
    return { prefix: first, model: written.slice(slash + 1) };
  }
  return {
    prefix: GUESSES.find(([begins]) => begins.test(written))?.[1] ?? "openai",
    model: written,
  };
}
