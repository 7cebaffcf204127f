/** Which form a request is answered in. */

import type { ClientRequest, Clock, Face, Sealer } from "@sluice/contract";
import type { Generation } from "../../generation/generation.ts";
import type { CompiledRoute } from "../../pipeline/compile.ts";
import { CountForm, FacedForm } from "./faced.ts";
import { KeptForm } from "./kept.ts";
import { ModelsForm } from "./models.ts";
import { edgeForm } from "../extensions/write.ts";
import { referenceForm } from "./reference.ts";
import type { ReplyForm } from "./reply-form.ts";

/** A client, and the form that it is answered in. */
interface Answered {
  /** With the headers in which its kind of client sends the key. */
  readonly client: ClientRequest;
  readonly form: ReplyForm;
}

/** The form of the replies to one request: that of its face, or the reference dialect. */
export function formFor(
  asked: ClientRequest,
  route: CompiledRoute,
  generation: Generation,
  id: string,
  { clock, sealer }: { readonly clock: Clock; readonly sealer: Sealer },
): Answered {
  const face = faceOf(asked, route, generation);
  if (face === undefined)
    return {
      client: asked,
      form: edgeForm(generation.edge) ?? referenceForm(generation.snapshot.server.errorCode),
    };
  const { keyHeaders } = face;
  const client = keyHeaders === undefined ? asked : { ...asked, keyHeaders };
  if (route.operation === "models") return { client, form: new ModelsForm(face, client, id) };
  if (route.operation === "responses") return { client, form: new KeptForm(face, id) };
  const started = { id, startedAtMs: clock.now(), sealer };
  const form =
    route.operation === "tokens" ? new CountForm(face, started) : new FacedForm(face, started);
  return { client, form };
}

/** The face of a route. A list of models may have none: the client shows what it expects. */
function faceOf(
  client: ClientRequest,
  { face, operation }: CompiledRoute,
  { faces }: Generation,
): Face | undefined {
  if (face !== undefined || operation !== "models") return face;
  return faces.find(({ models }) => models?.isAsked(client) === true);
}
