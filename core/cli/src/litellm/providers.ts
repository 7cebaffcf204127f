/**
 * Providers: what entries of `model_list` say of where and with whose credential they are served,
 * each combination once.
 */

import { GUESSES, PREFIXES, type PrefixRow } from "./provider-table.ts";
import { credentialOf, referenceOf } from "./references.ts";
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
    const made = this.#optionsOf(row, prefix, model, params, path);
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

  #optionsOf(
    row: PrefixRow,
    prefix: string,
    model: string,
    params: Members,
    path: SourcePath,
  ): Made {
    const credential = (member: string, variable: string): string =>
      credentialOf(params[member], variable, this.#source, [...path, member]);
    const base = referenceOf(params["api_base"] ?? params["base_url"])?.replace(/\/+$/, "");
    const common = ["api_key", "api_base", "base_url"];
    switch (row.use) {
      case "azure":
        return this.#azure(params, credential, base, path);
      case "vertex":
        return vertex(params, this.#source, path);
      case "bedrock":
        return bedrock(model, params, credential);
      case "compatible": {
        const hasKey = params["api_key"] !== undefined || row.variable !== undefined;
        const url =
          base === undefined ? row.baseUrl : row.preset === "ollama" ? withV1(base) : base;
        if (url === undefined && (row.preset === "custom" || row.preset === "vllm")) {
          this.#source.note(
            "todo",
            path,
            `the entry does not say where ${prefix}/ lives; correct base_url of the provider`,
          );
        }
        const address = url ?? (row.preset === "custom" ? "http://127.0.0.1:8000/v1" : undefined);
        const variable = row.variable ?? `${prefix.toUpperCase()}_API_KEY`;
        return {
          options: {
            ...(address === undefined ? {} : { base_url: address }),
            ...(hasKey && !isPlaceholder(params["api_key"])
              ? { api_key: credential("api_key", variable) }
              : {}),
          },
          read: common,
        };
      }
      case "openai": {
        const organization = referenceOf(params["organization"]);
        // Another address speaks the format with quirks of its own, and may need no key.
        if (base !== undefined && !/^https:\/\/([a-z]+\.)?api\.openai\.com(\/|$)/.test(base)) {
          const key =
            isPlaceholder(params["api_key"]) || params["api_key"] === undefined
              ? {}
              : { api_key: credential("api_key", "OPENAI_API_KEY") };
          return {
            options: { use: "compatible", preset: "custom", base_url: base, ...key },
            package: "compatible",
            read: common,
          };
        }
        return {
          options: {
            api_key: credential("api_key", "OPENAI_API_KEY"),
            ...(base === undefined ? {} : { base_url: base }),
            ...(organization === undefined ? {} : { organization }),
          },
          read: [...common, "organization"],
        };
      }
      default:
        return {
          options: {
            api_key: credential("api_key", row.variable ?? ""),
            ...(base === undefined ? {} : { base_url: base }),
          },
          read: common,
        };
    }
  }

  #azure(
    params: Members,
    credential: (member: string, variable: string) => string,
    base: string | undefined,
    path: SourcePath,
  ): Made {
    const version = referenceOf(params["api_version"]);
    const endpoint = (base ?? "${env:AZURE_API_BASE}").replace(/\/openai(\/.*)?$/, "");
    const options: Record<string, unknown> = { endpoint, api: "deployments" };
    if (version !== undefined) options["api_version"] = version;
    if (params["tenant_id"] !== undefined) {
      options["tenant_id"] = referenceOf(params["tenant_id"]);
      options["client_id"] = referenceOf(params["client_id"]);
      options["client_secret"] = credential("client_secret", "AZURE_CLIENT_SECRET");
    } else if (params["azure_ad_token"] !== undefined)
      options["token"] = credential("azure_ad_token", "AZURE_AD_TOKEN");
    else options["api_key"] = credential("api_key", "AZURE_API_KEY");
    if (base === undefined)
      this.#source.note("todo", path, "the entry has no api_base; export AZURE_API_BASE");
    const read = [
      "api_key",
      "api_base",
      "base_url",
      "api_version",
      "tenant_id",
      "client_id",
      "client_secret",
      "azure_ad_token",
    ];
    return { options, read };
  }
}

interface Made {
  readonly options: Readonly<Record<string, unknown>>;
  readonly read: readonly string[];
  readonly package?: string;
  readonly model?: string;
}

const NAMES: Readonly<Record<string, string>> = {
  vertex_ai: "vertex",
  vertex_ai_beta: "vertex",
  bedrock_converse: "bedrock",
  azure_text: "azure",
  cohere_chat: "cohere",
};

function vertex(params: Members, source: ImportSource, path: SourcePath): Made {
  const credentials = referenceOf(params["vertex_credentials"]);
  const isFile =
    credentials !== undefined &&
    !credentials.startsWith("$") &&
    !credentials.trimStart().startsWith("{");
  if (credentials !== undefined && !isFile && !credentials.startsWith("$")) {
    source.note(
      "todo",
      [...path, "vertex_credentials"],
      "the key is written out; export it as GOOGLE_SERVICE_ACCOUNT",
    );
  }
  const own = isFile
    ? `\${file:${credentials}}`
    : credentials?.startsWith("$") === true
      ? credentials
      : "${env:GOOGLE_SERVICE_ACCOUNT}";
  return {
    options: {
      project: referenceOf(params["vertex_project"]) ?? "${env:VERTEXAI_PROJECT}",
      location: referenceOf(params["vertex_location"]) ?? "${env:VERTEXAI_LOCATION:-global}",
      // Without credentials the machine's own tokens are used, as LiteLLM does by default.
      ...(credentials === undefined ? {} : { credentials: own }),
    },
    read: ["vertex_project", "vertex_location", "vertex_credentials"],
  };
}

/**
 * `bedrock/us-west-2/model`, `bedrock/converse/model` and `bedrock/invoke/model` name more than a
 * model.
 */
function bedrock(
  written: string,
  params: Members,
  credential: (member: string, variable: string) => string,
): Made {
  const parts = written
    .split("/")
    .filter((part) => !["converse", "invoke", "converse_like"].includes(part));
  const region =
    parts.length > 1 && /^[a-z]{2}(-[a-z]+)+-\d$/.test(parts[0] ?? "") ? parts.shift() : undefined;
  const options: Record<string, unknown> = {
    region: region ?? referenceOf(params["aws_region_name"]) ?? "${env:AWS_REGION_NAME:-us-east-1}",
  };
  if (params["aws_profile_name"] !== undefined) {
    options["credentials"] = "chain";
    options["profile"] = referenceOf(params["aws_profile_name"]);
  } else if (params["api_key"] !== undefined)
    options["api_key"] = credential("api_key", "AWS_BEARER_TOKEN_BEDROCK");
  else {
    options["access_key_id"] = credential("aws_access_key_id", "AWS_ACCESS_KEY_ID");
    options["secret_access_key"] = credential("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY");
    if (params["aws_session_token"] !== undefined)
      options["session_token"] = credential("aws_session_token", "AWS_SESSION_TOKEN");
  }
  const names = [
    "region_name",
    "access_key_id",
    "secret_access_key",
    "session_token",
    "profile_name",
  ].map((name) => `aws_${name}`);
  return { options, model: parts.join("/"), read: [...names, "api_key"] };
}

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

/** What people write where a server wants no key. */
function isPlaceholder(key: unknown): boolean {
  return (
    typeof key === "string" &&
    /^(none|empty|fake|dummy|anything|not-needed|no-key|sk-1234|ollama|x+)([-_ ]?key)?$/i.test(key)
  );
}

function withV1(base: string): string {
  return base.startsWith("${") || base.endsWith("/v1") ? base : `${base}/v1`;
}
