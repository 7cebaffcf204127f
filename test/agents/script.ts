/**
 * A scripted model: it asks for two commands and then says that it is done. It decides by what the
 * conversation holds, so that a repeated request gets the same answer.
 */

/** What a model was offered and what it has seen. */
export interface ModelTurn {
  readonly tools: readonly OfferedTool[];
  /** Results of tools in the conversation. */
  readonly results: number;
  readonly isStreamed: boolean;
  /** The whole request. */
  readonly text: string;
}

/** A tool with its JSON schema. */
export interface OfferedTool {
  readonly name: string;
  readonly schema: unknown;
}

/** What the model answers. */
export type ModelAnswer =
  | { readonly kind: "text"; readonly text: string }
  | {
      readonly kind: "call";
      readonly id: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
    };

/** The commands of the task, and the file that they leave. */
const COMMANDS = ["printf 'one\\n' > result.txt", "printf 'two\\n' >> result.txt"];
export const RESULT = "one\ntwo\n";
export const DONE = "The file result.txt has two lines.";

/** A task with personal data: one command writes what the model saw, and no second one follows. */
export const ADDRESS = "ada.lovelace@example.org";
export const ADDRESS_PROMPT = `Write the address to the file result.txt. The address is ${ADDRESS} and that is all.`;

const SHELL = /^(?:bash|shell|shell_command|exec_command|local_shell|run_shell_command)$/i;

/** The next answer. Side requests of an agent offer no shell: they get a short text. */
export function answerOf({ tools, results, text }: ModelTurn): ModelAnswer {
  const shell = tools.find(({ name }) => SHELL.test(name));
  const address = /The address is (\S+?) and that is all/.exec(text)?.[1];
  const command =
    address === undefined
      ? COMMANDS[results]
      : results > 0
        ? undefined
        : `printf '%s\\n' '${address}' > result.txt`;
  if (shell === undefined || command === undefined) return { kind: "text", text: DONE };
  const input = inputOf(command, shell.schema);
  return { kind: "call", id: `call_${results + 1}`, name: shell.name, input };
}

function inputOf(command: string, schema: unknown): Readonly<Record<string, unknown>> {
  const properties = membersOf(membersOf(schema).properties);
  if (properties.cmd !== undefined) return { cmd: command };
  const isList = membersOf(properties.command).type === "array";
  return { command: isList ? ["bash", "-c", command] : command };
}

/** The members of a value that should be an object. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** The items of a value that should be a list. */
export function itemsOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map(membersOf) : [];
}
