/** What an entry of `model_list` says of its provider: address, credential, region. */

import type { PrefixRow } from "./provider-table.ts";
import { credentialOf, referenceOf } from "./references.ts";
import type { ImportSource, Members, SourcePath } from "./source.ts";

/** The options of a provider of ours, made from one entry. */
export interface Made {
  readonly options: Readonly<Record<string, unknown>>;
  /** The members of `litellm_params` that were understood. */
  readonly read: readonly string[];
  /** Absent: the package of the prefix. */
  readonly package?: string;
  /** Absent: the model as written. */
  readonly model?: string;
}

/** The `litellm_params` of an entry, and where they stand. */
export interface EntryParams {
  readonly params: Members;
  readonly source: ImportSource;
  readonly path: SourcePath;
}

const COMMON = ["api_key", "api_base", "base_url"];

/** The options of the provider that serves `prefix`. Notes what the operator must correct. */
export function optionsOf(row: PrefixRow, prefix: string, model: string, entry: EntryParams): Made {
  switch (row.use) {
    case "azure":
      return azure(entry);
    case "vertex":
      return vertex(entry);
    case "bedrock":
      return bedrock(model, entry);
    case "compatible":
      return compatible(row, prefix, entry);
    case "openai":
      return openai(entry);
    default: {
      const base = baseOf(entry);
      const options = {
        api_key: credential(entry, "api_key", row.variable ?? ""),
        ...(base === undefined ? {} : { base_url: base }),
      };
      return { options, read: COMMON };
    }
  }
}

function credential(
  { params, source, path }: EntryParams,
  member: string,
  variable: string,
): string {
  return credentialOf(params[member], variable, source, [...path, member]);
}

function baseOf({ params }: EntryParams): string | undefined {
  return referenceOf(params["api_base"] ?? params["base_url"])?.replace(/\/+$/, "");
}

function compatible(row: PrefixRow, prefix: string, entry: EntryParams): Made {
  const { params, source, path } = entry;
  const base = baseOf(entry);
  const hasKey = params["api_key"] !== undefined || row.variable !== undefined;
  const url = base === undefined ? row.baseUrl : row.preset === "ollama" ? withV1(base) : base;
  if (url === undefined && (row.preset === "custom" || row.preset === "vllm")) {
    source.note(
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
        ? { api_key: credential(entry, "api_key", variable) }
        : {}),
    },
    read: COMMON,
  };
}

function openai(entry: EntryParams): Made {
  const { params } = entry;
  const base = baseOf(entry);
  const organization = referenceOf(params["organization"]);
  // Another address speaks the format with quirks of its own, and may need no key.
  if (base !== undefined && !/^https:\/\/([a-z]+\.)?api\.openai\.com(\/|$)/.test(base)) {
    const key =
      isPlaceholder(params["api_key"]) || params["api_key"] === undefined
        ? {}
        : { api_key: credential(entry, "api_key", "OPENAI_API_KEY") };
    return {
      options: { use: "compatible", preset: "custom", base_url: base, ...key },
      package: "compatible",
      read: COMMON,
    };
  }
  return {
    options: {
      api_key: credential(entry, "api_key", "OPENAI_API_KEY"),
      ...(base === undefined ? {} : { base_url: base }),
      ...(organization === undefined ? {} : { organization }),
    },
    read: [...COMMON, "organization"],
  };
}

function azure(entry: EntryParams): Made {
  const { params, source, path } = entry;
  const base = baseOf(entry);
  const version = referenceOf(params["api_version"]);
  const endpoint = (base ?? "${env:AZURE_API_BASE}").replace(/\/openai(\/.*)?$/, "");
  const options: Record<string, unknown> = { endpoint, api: "deployments" };
  if (version !== undefined) options["api_version"] = version;
  if (params["tenant_id"] !== undefined) {
    options["tenant_id"] = referenceOf(params["tenant_id"]);
    options["client_id"] = referenceOf(params["client_id"]);
    options["client_secret"] = credential(entry, "client_secret", "AZURE_CLIENT_SECRET");
  } else if (params["azure_ad_token"] !== undefined)
    options["token"] = credential(entry, "azure_ad_token", "AZURE_AD_TOKEN");
  else options["api_key"] = credential(entry, "api_key", "AZURE_API_KEY");
  if (base === undefined)
    source.note("todo", path, "the entry has no api_base; export AZURE_API_BASE");
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

function vertex({ params, source, path }: EntryParams): Made {
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
function bedrock(written: string, entry: EntryParams): Made {
  const { params } = entry;
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
    options["api_key"] = credential(entry, "api_key", "AWS_BEARER_TOKEN_BEDROCK");
  else {
    options["access_key_id"] = credential(entry, "aws_access_key_id", "AWS_ACCESS_KEY_ID");
    options["secret_access_key"] = credential(
      entry,
      "aws_secret_access_key",
      "AWS_SECRET_ACCESS_KEY",
    );
    if (params["aws_session_token"] !== undefined)
      options["session_token"] = credential(entry, "aws_session_token", "AWS_SESSION_TOKEN");
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
