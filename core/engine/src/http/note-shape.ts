/** Notes the shape of an exchange that has ended, for trying edits on. Looks at what is there anyway, and at no text. */

import { isObject } from "@sluice/kit";
import type { GatewayRequest, SpendRow } from "@sluice/spec";
import type { RouteOutline } from "../pipeline/compile.ts";
import type { LiveExchange } from "../pipeline/exchange.ts";
import { NO_USE, type RequestShapes, SHAPE, type ShapeUse } from "../resources/request-shapes.ts";

/** Images stand in one of the last messages, nearly always. */
const MAX_MESSAGES = 4;

/** Notes it. A stranger's request is none: no configuration admits it. */
export function noteShape(shapes: RequestShapes, exchange: LiveExchange, outline: RouteOutline): void {
  const { identity, request, client, attempts, operation } = exchange;
  if (identity === undefined) return;
  // What the first attempt stood at: a fallback moves on, and a deployment's name has become a model's.
  const model = attempts[0]?.model?.id ?? exchange.model?.id ?? request?.model ?? "";
  const provider = operation === "passthrough" ? (client.parameters["provider"] ?? "") : "";
  const flags = request === undefined ? 0 : flagsOf(request);
  shapes.add(outline, model, provider, identity, flags, useOf(exchange.rows));
}

/** The tokens of the call that answered, else of the last one; the money of all. */
function useOf(rows: readonly SpendRow[] | undefined): ShapeUse {
  const [first] = rows ?? [];
  if (rows === undefined || first === undefined) return NO_USE;
  if (rows.length === 1) return first;
  const { promptTokens, completionTokens } = rows.findLast(({ status }) => status === "success") ?? rows.at(-1) ?? first;
  let sum: number | null = 0;
  for (const { costNanoUsd } of rows) sum = costNanoUsd === null || sum === null ? null : sum + costNanoUsd;
  return { promptTokens, completionTokens, costNanoUsd: sum };
}

function flagsOf({ stream, document, raw }: GatewayRequest): number {
  let flags: number = stream ? SHAPE.stream : 0;
  if (raw !== undefined) return flags;
  const { tools, messages } = document.value;
  if (tools !== undefined && tools !== null) flags |= SHAPE.tools;
  if (!Array.isArray(messages)) return flags;
  for (let index = Math.max(0, messages.length - MAX_MESSAGES); index < messages.length; index += 1) {
    const message: unknown = messages[index];
    const content = isObject(message) ? message["content"] : undefined;
    if (Array.isArray(content) && content.some((part) => isObject(part) && part["type"] === "image_url"))
      return flags | SHAPE.images;
  }
  return flags;
}
