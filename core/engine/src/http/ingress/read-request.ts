/** Reads and checks the body of one exchange. */

import type { IncomingMessage } from "node:http";
import type {
  ClientRequest,
  EdgeRequest,
  Exchange,
  GatewayRequest,
  Identity,
} from "@sluice/contract";
import { endingOf } from "@sluice/kit/internals";
import type { GuardrailUseSettings } from "../../config/snapshot.ts";
import type { Edge } from "../../generation/extensions.ts";
import type { Generation } from "../../generation/generation.ts";
import type { CompiledRoute } from "../../pipeline/compile.ts";
import { isInside } from "../extensions/inside.ts";
import { FacedForm } from "../form/faced.ts";
import type { ReplyForm } from "../form/reply-form.ts";
import { missingRoute } from "../intake/missing-route.ts";
import { nearRoute } from "../intake/near-route.ts";
import { invalidPath, type RequestTarget } from "../intake/request-head.ts";
import type { HeldAccount } from "../listener/held-bytes.ts";
import { ExtendedRequest } from "./extended.ts";
import { requestedGuardrails } from "./gateway-fields/gateway-fields.ts";
import { receiveRequest } from "./receive.ts";
import { withoutCredentials } from "./redact.ts";

/** A request's target and its route. */
export interface RoutedTarget {
  readonly generation: Generation;
  readonly target: RequestTarget;
  readonly route: CompiledRoute;
  readonly parameters: Readonly<Record<string, string>>;
}

/** The readers of a request; `undefined` where there are none. */
function extendedBy(
  edge: Edge | undefined,
  message: IncomingMessage,
  about: Omit<EdgeRequest, "body" | "mayAnswer">,
  hasFace: boolean,
): ExtendedRequest | undefined {
  if (edge === undefined || edge.readers.length === 0) return undefined;
  const mayAnswer = !hasFace && about.operation !== "passthrough" && !isInside(message);
  return new ExtendedRequest(edge.readers, { ...about, mayAnswer });
}

/** Whether a request may name a guardrail. For a key that may not, it does not exist. */
function mayName(
  { name, onlyNamed }: GuardrailUseSettings,
  identity: Identity | undefined,
): boolean {
  if (!onlyNamed || identity?.kind === "master") return true;
  return identity?.guardrails?.includes(name) === true;
}

/**
 * Reads and checks the body. Only a valid key learns which prefixes are providers: the refusal
 * comes after authentication, before the body.
 */
export async function readRequest(
  message: IncomingMessage,
  client: ClientRequest,
  { generation, target, route, parameters }: RoutedTarget,
  form: ReplyForm,
  held: HeldAccount,
  exchange: Pick<Exchange, "identity" | "signal">,
): Promise<GatewayRequest | undefined> {
  const { providers, guardrails, server } = generation.snapshot;
  const { operation } = route;
  const { identity } = exchange;
  const isProvider = (name: string): boolean =>
    providers.some((provider) => provider.name === name);
  const { provider = "ref" } = parameters;
  if (operation === "passthrough" && provider !== "ref" && !isProvider(provider))
    throw target.hasEncodedSlash
      ? invalidPath()
      : missingRoute({
          path: target.path,
          method: route.method,
          near: nearRoute(generation.routes, route.method, target.path),
          natives: generation.natives,
        });
  const limits = {
    maxBytes: server.maxBodyBytes,
    hold: (bytes: number) => held.takeBody(bytes, identity),
    ending: endingOf(exchange),
  };
  const translate = form instanceof FacedForm ? form : undefined;
  const about = { operation, client, identity };
  const extended = extendedBy(generation.edge, message, about, translate !== undefined);
  const received = await receiveRequest(
    operation,
    message,
    client,
    limits,
    isProvider,
    translate,
    extended,
  );
  if (received === undefined) return undefined;
  const request = withoutCredentials(extended?.finish(received) ?? received);
  const asked = requestedGuardrails(request.fields, (name) =>
    guardrails.some((guardrail) => guardrail.name === name && mayName(guardrail, identity)),
  );
  return asked.length === 0 ? request : { ...request, guardrails: asked };
}
