/** Reads the request of an exchange, by the dialect of its operation. */

import type { IncomingMessage } from "node:http";
import type {
  ClientRequest,
  GatewayRequest,
  JsonDocument,
  MaybePromise,
  Operation,
} from "@sluice/contract";
import { Stages } from "@sluice/kit";
import type { Ending } from "@sluice/kit/internals";
import { readBody } from "./bytes/body.ts";
import type { ExtendedRequest } from "./extended.ts";
import { refuseOtherReadings } from "./refused-members.ts";
import { chatStages, receiveChat } from "./chat/chat.ts";
import { type Deployment, readDeployment, withDeployment } from "./deployment.ts";
import { receiveEmbeddings } from "./embeddings.ts";
import { receiveImages } from "./images.ts";
import {
  checkContainers,
  checkMediaType,
  knownCoding,
  jsonStages,
  MAX_CONTAINERS,
  readJson,
} from "./bytes/json.ts";
import { hasNativeBody, nativeStages, withoutNativeBody } from "./passthrough.ts";
import { receiveSpend } from "./spend.ts";
import { inSlices, isLarge } from "./bytes/stages.ts";

/** Converts a document into the request of one operation. Throws `invalid_field`. */
export type Receive = (document: JsonDocument, client: ClientRequest) => GatewayRequest;

/** The same of a large document. */
export type ReceiveStages = (
  document: JsonDocument,
  client: ClientRequest,
) => Stages.Of<GatewayRequest>;

/** Those whose check takes long. */
const STAGES: Partial<Record<Operation, ReceiveStages>> = { chat: chatStages, tokens: chatStages };

/** Operations with a JSON body. The others have none. */
const RECEIVERS: Partial<Record<Operation, Receive>> = {
  chat: receiveChat,
  embeddings: receiveEmbeddings,
  images: receiveImages,
  spend: receiveSpend,
  tokens: receiveChat,
};

/** Maximum of values of a body, by operation: 2,048 inputs may be tokens. */
const MAX_NODES: Partial<Record<Operation, number>> = { embeddings: 2_000_000 };

/**
 * Maximum of bytes of a body, by operation, besides `server.max_body`: a calculation counts the
 * tokens of all bytes.
 */
const MAX_BYTES: Partial<Record<Operation, number>> = { spend: 1_048_576 };

const BODY_DEADLINE_MS = 30_000;

/** Makes a request of the reference dialect of a client's own. */
export interface Translation {
  /** Whether a document may refer to what the gateway keeps. */
  readonly opensReferences: boolean;
  /** The document with what it refers to in place. */
  open(document: JsonDocument): MaybePromise<JsonDocument>;
  read(document: JsonDocument, client: ClientRequest, receive: Receive): GatewayRequest;
  /** The same of a large document. */
  readInStages(
    document: JsonDocument,
    client: ClientRequest,
    receive: ReceiveStages,
  ): Stages.Of<GatewayRequest>;
}

/** What bounds the reading of one body. */
export interface ReadBounds {
  readonly maxBytes: number;
  /** Counts bytes that are kept. Throws where there is no room. */
  readonly hold: (bytes: number) => void;
  /** That of the exchange: a body is not read on for a client that has gone. */
  readonly ending: Ending;
}

/**
 * The request of an operation, `undefined` where there is no body to read. `translation`: that of a
 * route with a face. `extended`: the readers of extensions. Rejects with the reason of the ending.
 */
export async function receiveRequest(
  operation: Operation,
  message: IncomingMessage,
  client: ClientRequest,
  { maxBytes, hold, ending }: ReadBounds,
  isProvider: (name: string) => boolean,
  translation?: Translation,
  extended?: ExtendedRequest,
): Promise<GatewayRequest | undefined> {
  if (operation === "passthrough") {
    if (!hasNativeBody(client)) return withoutNativeBody(client, extended);
    // The upstream gets the body without its coding: what is checked is what it reads.
    const native = await readBody(message, {
      maxBytes,
      deadlineMs: BODY_DEADLINE_MS,
      coding: knownCoding(message),
      hold,
      holder: ending.holder,
    });
    const type = message.headers["content-type"];
    return inSlices(nativeStages(native, type, client, extended), native.length, ending);
  }
  const receive = RECEIVERS[operation];
  // Of the spend routes only a calculation has a body.
  if (receive === undefined || (operation === "spend" && client.method !== "POST"))
    return undefined;
  const deployment = readDeployment(client, isProvider);
  checkMediaType(message);
  const bytes = await readBody(message, {
    maxBytes: Math.min(maxBytes, MAX_BYTES[operation] ?? maxBytes),
    deadlineMs: BODY_DEADLINE_MS,
    coding: knownCoding(message),
    hold,
    holder: ending.holder,
  });
  const isBig = isLarge(bytes);
  const terms = {
    operation,
    receive,
    client,
    deployment,
    translation,
    extended,
    ending,
    isLarge: isBig,
  };
  if (translation?.opensReferences === true)
    return isBig
      ? openLarge(bytes, terms, translation)
      : openRequest(readJson(bytes, MAX_NODES[operation]), terms, translation);
  if (!isBig) return smallRequest(readJson(bytes, MAX_NODES[operation]), terms);
  return inSlices(requestStages(bytes, terms), bytes.length, ending);
}

/** What a document becomes a request by. */
interface ReceiveTerms {
  readonly operation: Operation;
  readonly receive: Receive;
  readonly client: ClientRequest;
  readonly deployment: Deployment | undefined;
  readonly translation: Translation | undefined;
  readonly extended: ExtendedRequest | undefined;
  readonly ending: Ending;
  readonly isLarge: boolean;
}

/** Reads a large request that may refer to what the gateway keeps. */
async function openLarge(
  bytes: Buffer,
  terms: ReceiveTerms,
  translation: Translation,
): Promise<GatewayRequest> {
  const { operation, ending } = terms;
  const document = await inSlices(documentStages(bytes, operation), bytes.length, ending);
  const opened = await translation.open(document);
  return openedRequest(opened, document, terms);
}

/** Reads a small request that may refer to what the gateway keeps. Most refer to nothing. */
function openRequest(
  document: JsonDocument,
  terms: ReceiveTerms,
  translation: Translation,
): MaybePromise<GatewayRequest> {
  const opening = translation.open(document);
  return opening instanceof Promise
    ? opening.then((opened) => openedRequest(opened, document, terms))
    : openedRequest(opening, document, terms);
}

function openedRequest(
  opened: JsonDocument,
  document: JsonDocument,
  terms: ReceiveTerms,
): MaybePromise<GatewayRequest> {
  // What a request refers to counts as its own. Its size is that of a large body.
  const isJoined = hasOtherLists(opened, document);
  if (isJoined) checkContainers(opened.value);
  return isJoined || terms.isLarge
    ? inSlices(largeRequest(opened, terms), Infinity, terms.ending)
    : smallRequest(opened, terms);
}

function* requestStages(bytes: Buffer, terms: ReceiveTerms): Stages.Of<GatewayRequest> {
  const document = yield* documentStages(bytes, terms.operation);
  yield;
  return yield* largeRequest(document, terms);
}

/** Whether a list or an object of a document is another one than before. */
function hasOtherLists(opened: JsonDocument, before: JsonDocument): boolean {
  const { value } = opened;
  if (opened === before) return false;
  return Object.entries(value).some(
    ([name, member]) => typeof member === "object" && member !== before.value[name],
  );
}

function documentStages(bytes: Buffer, operation: Operation): Stages.Of<JsonDocument> {
  const maxContainers = operation === "chat" || operation === "tokens" ? MAX_CONTAINERS : undefined;
  return jsonStages(bytes, MAX_NODES[operation], maxContainers);
}

/** The request of a small document, at once. */
function smallRequest(received: JsonDocument, terms: ReceiveTerms): GatewayRequest {
  const { receive, client, deployment, translation } = terms;
  const document = namedDocument(received, terms);
  const request =
    translation === undefined
      ? receive(document, client)
      : translation.read(document, client, receive);
  return deployment === undefined ? request : { ...request, otherModels: deployment.otherModels };
}

/** The request of a large document, or of one with what it refers to. */
function* largeRequest(received: JsonDocument, terms: ReceiveTerms): Stages.Of<GatewayRequest> {
  const { operation, receive, client, deployment, translation } = terms;
  const document = namedDocument(received, terms);
  const stages = STAGES[operation] ?? oneStage(receive);
  if (translation !== undefined) yield;
  const request =
    translation === undefined
      ? yield* stages(document, client)
      : yield* translation.readInStages(document, client, stages);
  const others = deployment === undefined ? {} : { otherModels: deployment.otherModels };
  return { ...request, ...others, isLarge: true };
}

/** A document as extensions read it, with the model of its path. */
function namedDocument(
  received: JsonDocument,
  { operation, extended, deployment }: ReceiveTerms,
): JsonDocument {
  let document = received;
  if (operation !== "spend") {
    document = extended?.read(received) ?? received;
    refuseOtherReadings(document.value);
  }
  return deployment === undefined ? document : withDeployment(document, deployment);
}

function oneStage(receive: Receive): ReceiveStages {
  // oxlint-disable-next-line require-yield
  return function* (document, client) {
    return receive(document, client);
  };
}
