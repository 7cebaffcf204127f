/** Guardrails in one file outside the repository, and a gateway that has them. */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createWorkspace, type Workspace, type WorkspaceOptions } from "../support/workspace.ts";

const PLUGIN = `
import { defineGuardrail } from "@sluice/kit";
import { matchSpans } from "@sluice/kit/guard";

interface ForbidConfig { readonly word: string; readonly action: "block" | "mask" | "restore" }

const forbid = defineGuardrail<ForbidConfig>({
  name: "forbid",
  stability: "experimental",
  summary: "Forbids a word.",
  config: {
    type: "object",
    required: ["word"],
    properties: {
      word: { type: "string", minLength: 1, description: "The word." },
      action: { type: "string", enum: ["block", "mask", "restore"], default: "block", description: "What happens to it." },
    },
  },
  sample: ({ word }) => "x " + word,
  create: ({ word, action }) => ({
    reach: word.length,
    check(text) {
      const start = text.indexOf(word);
      if (start < 0) return { kind: "allow" };
      if (action === "block") return { kind: "block", reason: "word", start, end: start + word.length };
      const spans = matchSpans(text, new RegExp(RegExp.escape?.(word) ?? word, "g"), action === "mask" ? "***" : "WORD");
      return { kind: "edit", spans: spans.map((span) => ({ ...span, restore: action === "restore" })) };
    },
  }),
});

interface FaultyConfig { readonly how: string }

const faulty = defineGuardrail<FaultyConfig>({
  name: "faulty",
  stability: "experimental",
  summary: "Misbehaves.",
  config: { type: "object", properties: { how: { type: "string", default: "throw", description: "How." } } },
  sample: () => "deny me",
  create: ({ how }) => ({
    reach: how === "whole" ? Infinity : 8,
    check(text, signal, context) {
      if (text === "deny me") return how === "toothless" ? { kind: "allow" } : { kind: "block", reason: "sample" };
      if (!text.includes("TROUBLE")) return { kind: "allow" };
      switch (how) {
        case "throw": throw new Error("secret: " + text);
        case "hang": return new Promise(() => {});
        case "invalid": return { kind: "perhaps" } as never;
        case "spans": return { kind: "edit", spans: [{ start: 5, end: 999_999, replacement: "" }] };
        case "mutate": (context as { part: string }).part = "x"; Object.freeze([]).push(1 as never); return { kind: "allow" };
        case "busy": for (const end = performance.now() + 300; performance.now() < end; ); return { kind: "allow" };
        default: return { kind: "allow" };
      }
    },
  }),
});

export default [forbid, faulty];
`;

/** What the guardrails' section and the steps' options say. */
export interface GuardedOptions extends WorkspaceOptions {
  /** Entries of `guardrails:`, each as `name: { … }`. */
  readonly guardrails: readonly string[];
  /** Options of the step `guardrails` in every pipeline. */
  readonly step: string;
}

/** A workspace whose pipelines run these guardrails. */
export function guardedWorkspace(options: GuardedOptions): Workspace {
  const workspace = createWorkspace(options);
  mkdirSync(join(workspace.folder, "my-plugins"));
  writeFileSync(join(workspace.folder, "my-plugins/forbid.ts"), PLUGIN);
  const text = readFileSync(workspace.configPath, "utf8");
  workspace.write(withGuardrails(text, options.guardrails));
  for (const name of ["chat", "embeddings", "images", "passthrough"]) {
    const path = join(workspace.pipelinesFolder, `${name}.yaml`);
    const pipeline = readFileSync(path, "utf8");
    writeFileSync(
      path,
      pipeline.replace(/^( +- )guardrails\b.*$/m, `$1{ use: guardrails, with: ${options.step} }`),
    );
  }
  return workspace;
}

/** A gateway file with the plugin and these guardrails. */
export function withGuardrails(text: string, guardrails: readonly string[]): string {
  const section = `guardrails:\n${guardrails.map((line) => `  ${line}\n`).join("")}`;
  return text
    .replace("plugins:\n", 'plugins:\n  - "../my-plugins/forbid.ts"\n')
    .replace(/^models:\n/m, `${section}models:\n`);
}
