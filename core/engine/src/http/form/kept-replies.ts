/** The kept replies of one exchange: those that its request refers to, and its own. */

import type {
  Exchange,
  FaceKeeping,
  FaceStream,
  JsonDocument,
  JsonObject,
  KeptReply,
  KnownEntries,
  MaybePromise,
  OpenedRequest,
} from "@sluice/contract";
import { KEEPER, type ReplyKeeper } from "@sluice/runtime";

const NOTHING_KNOWN: KnownEntries = new Map();

/** Keeps an entry and those that lead to it. Returns whether all of them are kept. */
function keptWith(keeper: ReplyKeeper, { id, entry, pointers }: KeptReply): MaybePromise<boolean> {
  const isKept = keeper.keep(id, entry);
  if (pointers === undefined) return isKept;
  return Promise.all([isKept, ...pointers.map((each) => keeper.keep(each.id, each.entry))]).then(
    (kept) => kept.every(Boolean),
  );
}

/** Nothing is kept or found where no step has set a keeper. */
export class KeptReplies {
  readonly #keeping: FaceKeeping;
  readonly #exchange: Exchange;
  #opened: OpenedRequest | undefined;
  #isWanted = false;
  #isDetached = false;

  constructor(keeping: FaceKeeping, exchange: Exchange) {
    this.#keeping = keeping;
    this.#exchange = exchange;
  }

  /** Whether requests may refer to kept replies: known before the body is read. */
  get isOn(): boolean {
    return this.#keeper !== undefined;
  }

  /** Whether the client wants its reply kept, after `open`. */
  get isWanted(): boolean {
    return this.#isWanted;
  }

  /** Whether the reply is made without the client, after `open`. */
  get isDetached(): boolean {
    return this.#isDetached;
  }

  /** The request with what it refers to in place, after `open`. */
  get opened(): OpenedRequest | undefined {
    return this.#opened;
  }

  /** Puts what a request refers to in place. Rejects with `invalid_field` for what is not there. */
  open(document: JsonDocument): MaybePromise<JsonDocument> {
    const keeper = this.#keeper;
    if (keeper === undefined) return document;
    const ids = this.#keeping.references(document, NOTHING_KNOWN);
    if (ids.length === 0) return this.#openWith(document, NOTHING_KNOWN, keeper);
    return this.#find(document, ids, keeper);
  }

  async #find(
    document: JsonDocument,
    first: readonly string[],
    keeper: ReplyKeeper,
  ): Promise<JsonDocument> {
    const known = new Map<string, JsonObject | undefined>();
    for (let ids = first; ids.length > 0;) {
      const found = await keeper.find(ids);
      for (const id of ids) known.set(id, found.get(id));
      ids = this.#keeping.references(document, known).filter((id) => !known.has(id));
    }
    return this.#openWith(document, known, keeper);
  }

  #openWith(document: JsonDocument, known: KnownEntries, keeper: ReplyKeeper): JsonDocument {
    const wantsDetached = this.#keeping.detached?.isWanted(document) === true;
    this.#isDetached = wantsDetached && keeper.begin !== undefined;
    this.#opened = this.#keeping.open(document, known, this.#isDetached);
    this.#isWanted = this.#keeping.wants(document);
    return this.#opened.document;
  }

  /** The entry of a reply in the client's form. */
  entryOf(reply: JsonObject): KeptReply | undefined {
    return this.#opened === undefined
      ? undefined
      : this.#keeping.entryOf(this.#opened.document, reply);
  }

  /**
   * Keeps a reply in the client's form. Returns the reply as the client gets it. `onLost` is called
   * for one that could not be kept.
   */
  keep(reply: JsonObject, onLost: () => void): MaybePromise<JsonObject> {
    const keeper = this.#keeper;
    if (keeper === undefined || !this.#isWanted) return reply;
    const made = this.entryOf(reply);
    if (made === undefined) return reply;
    const sentOf = (isKept: boolean): JsonObject => {
      if (isKept) return made.reply;
      onLost();
      return reply;
    };
    const isKept = keptWith(keeper, made);
    return isKept instanceof Promise ? isKept.then(sentOf) : sentOf(isKept);
  }

  /** The end of a stream, once its reply is kept or cannot be. */
  end(writer: FaceStream, onLost: () => void): MaybePromise<string> {
    const reply = this.#isWanted ? writer.reply?.() : undefined;
    if (reply === undefined) return writer.end();
    const kept = this.keep(reply, onLost);
    return kept instanceof Promise ? kept.then((sent) => writer.end(sent)) : writer.end(kept);
  }

  get #keeper(): ReplyKeeper | undefined {
    return KEEPER.get(this.#exchange);
  }
}
