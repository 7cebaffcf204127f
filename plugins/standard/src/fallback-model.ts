/** Whether a model can stand in for another: visible to the key, of the same mode, with a target that can do the request. */

import { TOOL_PARAMETERS } from "@sluice/kit/openai";
import type { Exchange, GatewayRequest, Host, Model, ModelMode, Operation, ProviderCatalog, Target } from "@sluice/spec";

/** A model that can, with the targets that can, and what was skipped: `name (reason)`. */
export interface Candidate {
  readonly model: Model | undefined;
  readonly skipped: readonly string[];
}

const MODES: Partial<Record<Operation, ModelMode>> = { chat: "chat", embeddings: "embedding", images: "image" };
const NOBODY: Candidate = Object.freeze({ model: undefined, skipped: [] });

/** Looks a stand-in up. One that does not exist and one that the key may not use are passed over in silence: no oracle. */
export function candidateOf(id: string, asked: Model, exchange: Exchange, host: Host): Candidate {
  const { identity, request, operation } = exchange;
  const model = host.models.find(id);
  if (model === undefined || identity === undefined || request === undefined) return NOBODY;
  if (!host.authority.mayUse(identity, model)) return NOBODY;
  if (model.mode !== asked.mode && model.mode !== MODES[operation]) return { model: undefined, skipped: [`${id} (mode)`] };
  if (model.targets.length === 0) return { model: undefined, skipped: [`${id} (provider)`] };
  const able: Target[] = [];
  const skipped: string[] = [];
  for (const target of model.targets) {
    const lack = lackOf(target, request, operation, host.providers);
    if (lack === undefined) able.push(target);
    else skipped.push(`${target.id} (${lack})`);
  }
  if (able.length === 0) return { model: undefined, skipped };
  return { model: skipped.length === 0 ? model : { ...model, targets: able }, skipped };
}

/** What a target lacks for a request, in a word. */
function lackOf(target: Target, request: GatewayRequest, operation: Operation, providers: ProviderCatalog): string | undefined {
  const capabilities = providers.find(target.provider)?.translation.capabilities;
  if (capabilities === undefined) return "provider";
  if (!capabilities.operations.includes(operation)) return "operation";
  if (request.stream && !capabilities.streaming) return "streaming";
  if (!capabilities.tools && needsTools(request)) return "tools";
  return undefined;
}

function needsTools({ document: { value } }: GatewayRequest): boolean {
  return TOOL_PARAMETERS.some((name) => value[name] !== undefined && value[name] !== null);
}
