/** The prefixes of LiteLLM's model names, and which plugin of ours stands behind each. */

/** What a prefix comes to. */
export interface PrefixRow {
  /** The package, without `@sluice/provider-`. */
  readonly package: string;
  /** The plugin's name in `use:`. */
  readonly use: string;
  /** Of the plugin `compatible`. */
  readonly preset?: string;
  /** Where the API lives, for presets that do not know. */
  readonly baseUrl?: string;
  /**
   * The variable that LiteLLM takes the credential from where the entry has none. Absent: the API
   * needs none.
   */
  readonly variable?: string;
}

const compatible = (preset: string, variable?: string, baseUrl?: string): PrefixRow => ({
  package: "compatible",
  use: "compatible",
  preset,
  ...(variable === undefined ? {} : { variable }),
  ...(baseUrl === undefined ? {} : { baseUrl }),
});

const custom = (variable: string | undefined, baseUrl?: string): PrefixRow =>
  compatible("custom", variable, baseUrl);

const plain = (name: string, variable: string, use = name): PrefixRow => ({
  package: name,
  use,
  variable,
});

/** What a prefix of `litellm_params.model` becomes. */
export const PREFIXES: Readonly<Record<string, PrefixRow>> = {
  openai: plain("openai", "OPENAI_API_KEY"),
  azure: plain("azure", "AZURE_API_KEY"),
  azure_text: plain("azure", "AZURE_API_KEY"),
  anthropic: plain("anthropic", "ANTHROPIC_API_KEY"),
  gemini: plain("google", "GEMINI_API_KEY", "gemini"),
  vertex_ai: plain("google", "GOOGLE_APPLICATION_CREDENTIALS", "vertex"),
  vertex_ai_beta: plain("google", "GOOGLE_APPLICATION_CREDENTIALS", "vertex"),
  bedrock: plain("bedrock", "AWS_ACCESS_KEY_ID"),
  bedrock_converse: plain("bedrock", "AWS_ACCESS_KEY_ID"),
  mistral: plain("mistral", "MISTRAL_API_KEY"),
  codestral: plain("mistral", "CODESTRAL_API_KEY"),
  cohere: plain("cohere", "COHERE_API_KEY"),
  cohere_chat: plain("cohere", "COHERE_API_KEY"),
  stability: plain("stability", "STABILITY_API_KEY"),
  groq: compatible("groq", "GROQ_API_KEY"),
  deepseek: compatible("deepseek", "DEEPSEEK_API_KEY"),
  xai: compatible("xai", "XAI_API_KEY"),
  together_ai: compatible("together", "TOGETHERAI_API_KEY"),
  fireworks_ai: compatible("fireworks", "FIREWORKS_AI_API_KEY"),
  openrouter: compatible("openrouter", "OPENROUTER_API_KEY"),
  perplexity: compatible("perplexity", "PERPLEXITYAI_API_KEY"),
  ollama: compatible("ollama"),
  ollama_chat: compatible("ollama"),
  hosted_vllm: compatible("vllm"),
  vllm: compatible("vllm"),
  lm_studio: compatible("lmstudio"),
  openai_like: custom(undefined),
  custom_openai: custom(undefined),
  litellm_proxy: custom("LITELLM_PROXY_API_KEY"),
  llamafile: custom(undefined, "http://127.0.0.1:8080/v1"),
  xinference: custom(undefined, "http://127.0.0.1:9997/v1"),
  azure_ai: custom("AZURE_AI_API_KEY"),
  databricks: custom("DATABRICKS_API_KEY"),
  nvidia_nim: custom("NVIDIA_NIM_API_KEY", "https://integrate.api.nvidia.com/v1"),
  cerebras: custom("CEREBRAS_API_KEY", "https://api.cerebras.ai/v1"),
  sambanova: custom("SAMBANOVA_API_KEY", "https://api.sambanova.ai/v1"),
  deepinfra: custom("DEEPINFRA_API_KEY", "https://api.deepinfra.com/v1/openai"),
  moonshot: custom("MOONSHOT_API_KEY", "https://api.moonshot.ai/v1"),
  dashscope: custom("DASHSCOPE_API_KEY", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"),
  huggingface: custom("HF_TOKEN", "https://router.huggingface.co/v1"),
};

/** Names without a prefix, as LiteLLM guesses them. */
export const GUESSES: readonly (readonly [begins: RegExp, prefix: string])[] = [
  [/^claude-/, "anthropic"],
  [/^gemini-/, "vertex_ai"],
  [/^command-/, "cohere"],
  [/^(mistral|codestral|ministral|pixtral)-/, "mistral"],
  [/^(anthropic|amazon|meta|cohere|mistral|ai21|stability|us|eu|apac)\.[a-z0-9]/, "bedrock"],
];
