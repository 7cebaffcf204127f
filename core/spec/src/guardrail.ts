/** Guardrails: judges of text. */

import type { JsonObject } from "./json.ts";
import type { Operation } from "./operation.ts";

/** A stretch of the judged text to replace. Offsets are UTF-16 code units, end exclusive. */
export interface EditSpan {
  readonly start: number;
  readonly end: number;
  /** What stands there instead. With `restore` only a word for the kind, `EMAIL`: the kit makes the placeholder of it. */
  readonly replacement: string;
  /** On the way in: a placeholder goes upstream, and on the way out what stood here takes its place again. */
  readonly restore?: boolean;
}

/** A guardrail's answer. A reason is an identifier for logs and rows, never the matched text. */
export type Verdict =
  | { readonly kind: "allow" }
  | {
      readonly kind: "block";
      readonly reason: string;
      /** Where the first offence stands. Without it a block on a text that still grows counts at once. */
      readonly start?: number;
      readonly end?: number;
      /** What is to be replaced besides, as in an edit: it counts while more text may still take the offence away. */
      readonly spans?: readonly EditSpan[];
      /** Of a reply: another one may be better. Where the route allows it, the reply is asked for once more; a second time this is a block. */
      readonly askAgain?: boolean;
    }
  | { readonly kind: "edit"; readonly spans: readonly EditSpan[]; readonly reason?: string };

/** What a text is in its exchange. */
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

/** What a guardrail may know of the text it judges. */
export interface TextContext {
  /** The exchange's id: the same for every text of it. */
  readonly exchange: string;
  readonly operation: Operation;
  /** The model id that the client asked for. */
  readonly model: string;
  /** `input`: on its way to the upstream. `output`: on its way to the client. */
  readonly direction: "input" | "output";
  readonly part: TextPart;
  /** Tells one stream of text from another: the path of a text in a body, or the channel of a streamed reply. */
  readonly place: string;
  /** Whether more of this text may come. */
  readonly isPartial: boolean;
  /** Of a text that still comes: where `text` begins in the whole of it. 0 for a whole text. */
  readonly offset: number;
}

/** A request as a whole, for rules about more than texts: which models, which tools, how much. */
export interface RequestFacts {
  readonly exchange: string;
  readonly operation: Operation;
  readonly model: string;
  readonly stream: boolean;
  /** The body, gateway fields taken out. Frozen in spirit: whoever changes it fails. */
  readonly body: JsonObject;
}

/** A living guardrail. How a text is cut into chunks never changes the verdict. */
export interface Guardrail {
  /**
   * The longest stretch that one match may cover, together with the characters around it that the match depends on.
   * `Infinity`: the whole text; the guardrail then serves streams in the mode `hold` or `observe` only.
   */
  readonly reach: number;
  /** Whether its blocks may say `askAgain`. A step that names it and does not ask again is a finding. */
  readonly asksAgain?: boolean;
  check(text: string, signal: AbortSignal, context: TextContext): Verdict | Promise<Verdict>;
  /** Judges the request as a whole, once, before its texts. An edit is not possible here. */
  admit?(request: RequestFacts, signal: AbortSignal): Verdict | Promise<Verdict>;
  /** May do I/O, before anything is judged. */
  start?(signal: AbortSignal): Promise<void>;
  /** Safe on one that never started, and safe twice. */
  stop?(): Promise<void>;
}

/** What every guardrail of `guardrails:` has besides its own options. */
export interface GuardrailSettings {
  /** Whether it runs wherever a step `guardrails` stands, without being named. */
  readonly defaultOn: boolean;
  readonly mode: "enforce" | "shadow";
  /** What a guardrail that throws, hangs or talks rubbish means: the request fails, or goes on without it. */
  readonly onError: "fail" | "skip";
  /** Milliseconds that one judgement may take. */
  readonly budgetMs: number;
  /** Where it runs: in the thread that serves, or in worker threads of its own. */
  readonly isolation: "inline" | "worker";
  /** The texts it judges. Absent: all. */
  readonly scope?: readonly TextPart[];
  /** Characters of one text that it judges at most; for a longer one `onError` decides. Absent: any. */
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
  /** Long texts come to it in slices, as streams do: its reach has a bound, and it works in the thread that serves. */
  readonly isSliced?: boolean;
  /** It asks a service: what a word can be found in is not worth a call of its own. */
  readonly isRemote?: boolean;
  /** The same for a guardrail of the same name, plugin and options in another generation. It tells nothing of them. */
  readonly identity?: string;
}

/** The guardrails of a generation. */
export interface GuardrailCatalog {
  find(name: string): GuardrailInstance | undefined;
  /** In the order of the configuration. */
  list(): readonly GuardrailInstance[];
}

/**
 * What a guardrail did in an exchange. `error`: it failed; by its policy the request did too, or went on without it. `ask_again`: it
 * refused a reply, and another one was asked for.
 */
export interface GuardrailOutcome {
  readonly guardrail: string;
  readonly direction: "input" | "output";
  readonly verdict: "allow" | "block" | "edit" | "error" | "ask_again";
  readonly mode: GuardrailSettings["mode"] | "observe";
}
