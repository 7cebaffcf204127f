/** The form of the playground. */

import type { ComponentChildren } from "preact";
import { get } from "../../api/client.ts";
import type { ModelPage } from "../../api/models.ts";
import type { PlayRoutes } from "../../api/playground.ts";
import type { KeyPage } from "../../api/records.ts";
import { useMay } from "../../app/may.ts";
import { Button } from "../../parts/button.tsx";
import { Combobox, type Option } from "../../parts/combobox.tsx";
import {
  AreaField,
  CheckField,
  Field,
  Segments,
  SelectField,
  TextField,
} from "../../parts/field.tsx";
import { Panel } from "../../parts/page.tsx";
import type { Draft, DraftMessage, Faults } from "./draft.ts";

/** What the form needs. */
export interface PlayFormProps {
  readonly draft: Draft;
  readonly faults: Faults;
  readonly routes: PlayRoutes["routes"];
  readonly onChange: (changes: Partial<Draft>) => void;
  readonly actions: ComponentChildren;
}

const OPERATIONS = [
  ["chat", "Chat"],
  ["embeddings", "Embeddings"],
  ["images", "Images"],
] as const;

const MAX_OPTIONS = 20;

/** The form. */
export function PlayForm(props: PlayFormProps) {
  const { draft, faults, onChange, actions } = props;
  const mayModels = useMay()("model.read");
  const models = mayModels ? modelsOf(draft.operation) : noOptions;
  return (
    <Panel title="Request">
      <form class="stack" onSubmit={(event) => event.preventDefault()}>
        <Segments
          label="Operation"
          value={draft.operation}
          choices={OPERATIONS}
          onInput={(operation) =>
            onChange({
              operation: operation as Draft["operation"],
              model: "",
              second: "",
              route: "",
            })
          }
        />
        <One
          label="As key"
          hint="Its limits, models and guardrails hold, and its budget pays. master has no limits."
          value={draft.as}
          fault={faults.as}
          onInput={(as) => onChange({ as })}
          optionsFor={keyOptions}
        />
        <One
          key={`${draft.operation}-model`}
          label="Model"
          value={draft.model}
          fault={faults.model}
          onInput={(model) => onChange({ model })}
          optionsFor={models}
        />
        {draft.operation === "chat" ? <ChatFields {...props} /> : <InputField {...props} />}
        <MoreFields {...props} models={models} />
        <div class="row">{actions}</div>
      </form>
    </Panel>
  );
}

type Options = (text: string, signal: AbortSignal) => Promise<readonly Option[]>;

/** Fields that most requests do without. */
function MoreFields(props: PlayFormProps & { readonly models: Options }) {
  const { draft, faults, onChange, models } = props;
  return (
    <details>
      <summary>More fields</summary>
      <div class="stack">
        <One
          key={`${draft.operation}-second`}
          label="Second model"
          hint="It gets the same request, to compare."
          value={draft.second}
          onInput={(second) => onChange({ second })}
          optionsFor={models}
        />
        <RouteField {...props} />
        {draft.operation === "chat" && (
          <AreaField
            label="Tools"
            hint="A JSON array."
            rows={4}
            value={draft.tools}
            fault={faults.tools}
            onInput={(tools) => onChange({ tools })}
          />
        )}
        <AreaField
          label="Further parameters"
          hint="A JSON object. Its members join those of the request."
          rows={3}
          value={draft.more}
          fault={faults.more}
          onInput={(more) => onChange({ more })}
        />
      </div>
    </details>
  );
}

function ChatFields(props: PlayFormProps) {
  const { draft, faults, onChange } = props;
  const { messages } = draft;
  const set = (index: number, changes: Partial<DraftMessage>): void =>
    onChange({
      messages: messages.map((one, place) => (place === index ? { ...one, ...changes } : one)),
    });
  const last = messages.at(-1);
  return (
    <>
      <AreaField
        label="System prompt"
        rows={2}
        value={draft.system}
        onInput={(system) => onChange({ system })}
      />
      {messages.map(({ role, content }, index) => (
        <AreaField
          // Messages have no other name than their place.
          // oxlint-disable-next-line react/no-array-index-key
          key={index}
          label={`${role === "user" ? "User" : "Assistant"}, message ${index + 1}`}
          rows={3}
          value={content}
          fault={index === 0 ? faults.messages : undefined}
          onInput={(text) => set(index, { content: text })}
        />
      ))}
      <div class="row">
        <Button
          icon="plus"
          onClick={() =>
            onChange({
              messages: [
                ...messages,
                { role: last?.role === "user" ? "assistant" : "user", content: "" },
              ],
            })
          }
        >
          Add a message
        </Button>
        {messages.length > 1 && (
          <Button icon="trash" onClick={() => onChange({ messages: messages.slice(0, -1) })}>
            Remove the last one
          </Button>
        )}
      </div>
      <Parameters {...props} />
    </>
  );
}

function Parameters({ draft, faults, onChange }: PlayFormProps) {
  return (
    <>
      <div class="columns">
        <TextField
          label="Temperature"
          inputMode="decimal"
          value={draft.temperature}
          fault={faults.temperature}
          onInput={(temperature) => onChange({ temperature })}
        />
        <TextField
          label="Tokens at most"
          inputMode="numeric"
          value={draft.maxTokens}
          fault={faults.maxTokens}
          onInput={(maxTokens) => onChange({ maxTokens })}
        />
      </div>
      <CheckField
        label="Stream the reply"
        checked={draft.isStream}
        onInput={(isStream) => onChange({ isStream })}
      />
    </>
  );
}

function InputField({ draft, faults, onChange }: PlayFormProps) {
  return (
    <AreaField
      label={draft.operation === "images" ? "Prompt" : "Text"}
      rows={4}
      value={draft.input}
      fault={faults.input}
      onInput={(input) => onChange({ input })}
    />
  );
}

/** The route, where an operation has several. */
function RouteField({ draft, routes, onChange }: PlayFormProps) {
  const own = routes.filter(({ operation }) => operation === draft.operation);
  if (own.length < 2) return null;
  return (
    <SelectField
      label="Route"
      value={draft.route === "" ? (own[0]?.route ?? "") : draft.route}
      choices={own.map(({ route, pipeline }) => [route, `${route} (${pipeline})`] as const)}
      onInput={(route) => onChange({ route })}
    />
  );
}

/** A field with one value of a list. */
function One(props: {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly fault?: string | undefined;
  readonly onInput: (value: string) => void;
  readonly optionsFor: Options;
}) {
  const { label, hint, value, fault, onInput, optionsFor } = props;
  return (
    <Field label={label} fault={fault} {...(hint !== undefined && { hint })}>
      {(ties) => (
        <Combobox
          ties={ties}
          values={value === "" ? [] : [value]}
          onInput={(values) => onInput(values[0] ?? "")}
          optionsFor={optionsFor}
          isMultiple={false}
          takesOthers
        />
      )}
    </Field>
  );
}

const noOptions = async (): Promise<readonly Option[]> => [];

async function keyOptions(search: string, signal: AbortSignal): Promise<readonly Option[]> {
  const query = { search, status: "active", limit: MAX_OPTIONS };
  const { keys } = await get<KeyPage>("/key/list", query, { signal });
  const own = keys.map(({ token_id: value, key_alias: alias }) => ({
    value,
    ...(typeof alias === "string" && { detail: alias }),
  }));
  return "master".startsWith(search) ? [{ value: "master", detail: "no limits" }, ...own] : own;
}

function modelsOf(operation: Draft["operation"]) {
  return async (search: string, signal: AbortSignal): Promise<readonly Option[]> => {
    const { models } = await get<ModelPage>("/models", { search, limit: 100 }, { signal });
    return models
      .filter(({ mode }) => mode === operation || mode === "chat")
      .slice(0, MAX_OPTIONS)
      .map(({ model, targets }) => ({ value: model, detail: targets[0]?.deployment ?? "" }));
  };
}
