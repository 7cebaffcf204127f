/**
 * Packages of which a published package has the files that it needs, and not the rest:
 * gpt-tokenizer has 25 MB of tables for ten encodings in three forms, and one is read. The
 * workspace names the files in `imports` of its package.json.
 */

/** The files of a package, by their paths in the package that has them. */
export interface Vendored {
  readonly name: string;
  /** The targets of `imports`, in the checkout and in the published package. */
  readonly imports: Readonly<Record<string, string>>;
  /** Sources from the root of the checkout, by their paths in the package. */
  readonly files: Readonly<Record<string, string>>;
}

const GPT_TOKENIZER = "node_modules/gpt-tokenizer";

/** By the folder of the workspace. */
export const VENDORED: Readonly<Record<string, readonly Vendored[]>> = {
  "core/engine": [
    {
      name: "gpt-tokenizer",
      imports: {
        "gpt-tokenizer/bpeRanks/o200k_base": "./vendor/gpt-tokenizer/o200k_base.js",
        "gpt-tokenizer/encodingParams/constants": "./vendor/gpt-tokenizer/constants.js",
      },
      files: {
        "vendor/gpt-tokenizer/LICENSE": `${GPT_TOKENIZER}/LICENSE`,
        "vendor/gpt-tokenizer/o200k_base.js": `${GPT_TOKENIZER}/esm/bpeRanks/o200k_base.js`,
        "vendor/gpt-tokenizer/constants.js": `${GPT_TOKENIZER}/esm/encodingParams/constants.js`,
      },
    },
  ],
};
