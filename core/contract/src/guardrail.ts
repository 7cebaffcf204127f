/** Guardrails: checks of texts. */

import type { JsonObject } from "./json.ts";
import type { Operation } from "./model.ts";

/** A span of the checked text to replace. Offsets are UTF-16 code units, end exclusive. */
export interface EditSpan {
  readonly start: number;
  readonly end: number;
  /**
   * The replacement. With `restore` only the name of the kind, `EMAIL`: the kit makes the
   * placeholder from it.
   */
  readonly replacement: string;
  /**
   * For requests: a placeholder goes upstream, and the reply gets the original text in its place.
   */
  readonly restore?: boolean;
}

/** A guardrail's verdict. A reason is an identifier for logs and rows, never the matched text. */
export type Verdict =
  | { readonly kind: "allow" }
  | {
      readonly kind: "block";
      readonly reason: string;
      /**
       * Where the first match begins. Without it a block counts at once, even while the text still
       * grows.
       */
      readonly start?: number;
      readonly end?: number;
      /**
       * Further replacements, as in an edit. They apply while later text may still remove the
       * reason for the block.
       */
      readonly spans?: readonly EditSpan[];
      /**
       * For replies: another reply may pass. Where the route allows it, the gateway asks the
       * upstream once more. The second time this is a block.
       */
      readonly askAgain?: boolean;
    }
  | { readonly kind: "edit"; readonly spans: readonly EditSpan[]; readonly reason?: string };

/** The role of a text in its exchange. */
export type TextPart =
  | "system"
  | "developer"
  | "user"
  | "assistant"
  | "tool"
  | "arguments"
  | "tools"
  | "documents"
  | "prompt"
  | "embedding"
  | "names"
  | "parameters"
  | "content"
  | "refusal"
  | "reasoning";

/** The holder of the work, for bounds that keys share. No verdict depends on it. */
export interface GuardrailCaller {
  /** The id of the key; empty for the gateway's own work. */
  readonly key: string;
  readonly team: string | undefined;
  /** The subject of a message: `The guardrail moderation`. */
  readonly what: string;
  /**
   * How often a check of the exchange has waited for a place. A check that is late for this reason
   * is not counted as a failure of the guardrail.
   */
  waits: number;
}

/** The context of the checked text. */
export interface TextContext {
  /** The exchange's id, the same for each of its texts. */
  readonly exchange: string;
  readonly operation: Operation;
  /** The model id that the client asked for. */
  readonly model: string;
  /** `input`: on its way to the upstream. `output`: on its way to the client. */
  readonly direction: "input" | "output";
  readonly part: TextPart;
  /**
   * Identifies one stream of text: the path of a text in a body, or the channel of a streamed
   * reply.
   */
  readonly place: string;
  /** Whether more of this text may follow. */
  readonly isPartial: boolean;
  /** For a partial text: the offset of `text` in the whole text. 0 for a whole text. */
  readonly offset: number;
  /**
   * For guardrails that call a service or work in threads: the holder whose place they use. Absent:
   * the gateway itself.
   */
  readonly caller?: GuardrailCaller;
}

/** A whole request, for rules about models, tools and amounts. */
export interface RequestFacts {
  readonly exchange: string;
  readonly operation: Operation;
  readonly model: string;
  readonly stream: boolean;
  /** The body without the gateway's own fields. Read-only: a change throws. */
  readonly body: JsonObject;
  /** As in `TextContext`. */
  readonly caller?: GuardrailCaller;
}

/** A running guardrail. The division of a text into chunks never changes the verdict. */
export interface Guardrail {
  /**
   * The longest span that one match can cover, with the surrounding characters that the match
   * depends on. `Infinity`: the whole text; the guardrail then supports the stream modes `hold` and
   * `observe` only.
   */
  readonly reach: number;
  /**
   * Whether its blocks may set `askAgain`. A step that names such a guardrail and does not ask
   * again is a finding.
   */
  readonly asksAgain?: boolean;
  check(text: string, signal: AbortSignal, context: TextContext): Verdict | Promise<Verdict>;
  /** Checks the whole request once, before its texts. It cannot edit. */
  admit?(request: RequestFacts, signal: AbortSignal): Verdict | Promise<Verdict>;
  /** Runs before any check. When, in what order and what an error does: `Lifecycle`. */
  start?(signal: AbortSignal): Promise<void>;
  /** When and what must hold: `Lifecycle`. */
  stop?(): Promise<void>;
}

/** The settings that each entry of `guardrails:` has besides the plugin's own options. */
export interface GuardrailSettings {
  /** Whether it runs at each step `guardrails`, without being named there. */
  readonly defaultOn: boolean;
  readonly mode: "enforce" | "shadow";
  /**
   * The policy for a guardrail that throws, hangs or returns an invalid verdict: the request fails,
   * or continues without it.
   */
  readonly onError: "fail" | "skip";
  /** Deadline of one check, in milliseconds. */
  readonly budgetMs: number;
  /** Where it runs: in the serving thread, or in worker threads of its own. */
  readonly isolation: "inline" | "worker";
  /** The texts that it checks. Absent: all. */
  readonly scope?: readonly TextPart[];
  /**
   * Maximum length of a checked text, in characters; for a longer text `onError` decides. Absent:
   * no maximum.
   */
  readonly maxText?: number;
}

/** A guardrail of this generation. */
export interface GuardrailInstance {
  /** The name in `guardrails:`. */
  readonly name: string;
  /** The plugin's name. */
  readonly use: string;
  readonly guardrail: Guardrail;
  readonly settings: GuardrailSettings;
  /**
   * Long texts are checked in slices, as streams are: the guardrail's reach has a bound, and it
   * works in the serving thread.
   */
  readonly isSliced?: boolean;
  /** It calls a service. A text that splits a word is not worth a separate call. */
  readonly isRemote?: boolean;
  /**
   * The same in each generation for a guardrail with the same name, plugin and options. It reveals
   * none of them.
   */
  readonly identity?: string;
}

/** The guardrails of a generation. */
export interface GuardrailCatalog {
  find(name: string): GuardrailInstance | undefined;
  /** In the order of the configuration. */
  list(): readonly GuardrailInstance[];
}

/**
 * The result of a guardrail in an exchange. `error`: it failed; by its policy the request failed
 * too, or continued without it. `ask_again`: it refused a reply, and the gateway asked for another
 * one.
 */
export interface GuardrailOutcome {
  readonly guardrail: string;
  readonly direction: "input" | "output";
  readonly verdict: "allow" | "block" | "edit" | "error" | "ask_again";
  readonly mode: GuardrailSettings["mode"] | "observe";
}
