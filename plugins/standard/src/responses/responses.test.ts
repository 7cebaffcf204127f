import { KEEPER, KEEPING, type ReplyKeeper } from "@sluice/runtime";
import { fakeExchange, fakeHost, fakeIdentity, fakeState } from "@sluice/testing";
import type {
  Exchange,
  FaceKeeping,
  Host,
  Identity,
  StateBound,
  StateCache,
} from "@sluice/contract";
import { describe, expect, it } from "vitest";
import { responses, type ResponsesConfig } from "./index.ts";
import { storedResponses } from "./stored.ts";

const CONFIG: ResponsesConfig = {
  store: "on",
  ttl: "1h",
  max_entry: "2kb",
  max_per_key: "8kb",
  max_total: "32kb",
  background: "on",
  max_background_per_key: 2,
  max_background: 3,
  max_events: "64kb",
};
const ID = `resp_${"a".repeat(32)}`;
const ENTRY = { version: 1, text: "What was said." };

function keeperOf(host: Host, identity: Partial<Identity> = {}, config = CONFIG) {
  const exchange = fakeExchange({ identity: fakeIdentity(identity) });
  void responses.create(config, host).beforeBody?.(exchange);
  return { exchange, keeper: KEEPER.get(exchange) };
}

/** The keeper of a key. */
function keeping(host: Host, identity?: Partial<Identity>): ReplyKeeper {
  const { keeper } = keeperOf(host, identity);
  if (keeper === undefined) throw new Error("The step set no keeper.");
  return keeper;
}

/** A host whose cache has other functions. */
function hostWith(cache: Partial<StateCache>): Host {
  const state = fakeState();
  return fakeHost({ state: { ...state, cache: { ...state.cache, ...cache } } });
}

describe("the step responses", () => {
  it("finds what the same key has stored, and nothing of another key", async () => {
    const host = fakeHost();
    expect(await keeping(host, { keyId: "a" }).keep(ID, ENTRY)).toBe(true);
    expect(await keeping(host, { keyId: "a" }).find([ID, "other"])).toEqual(new Map([[ID, ENTRY]]));
    expect(await keeping(host, { keyId: "b" }).find([ID])).toEqual(new Map());
  });

  it("opens no entry that was moved to another key or another id", async () => {
    const kept = new Map<string, Uint8Array>();
    const host = hostWith({
      set: (key, bytes) => kept.set(key, bytes).has(key),
      get: () => [...kept.values()][0],
    });
    await keeping(host, { keyId: "a" }).keep(ID, ENTRY);
    expect([...kept.keys()]).toEqual([`responses:a:${ID}`]);
    expect(await keeping(host, { keyId: "a" }).find([ID])).toEqual(new Map([[ID, ENTRY]]));
    expect(await keeping(host, { keyId: "b" }).find([ID])).toEqual(new Map());
    expect(await keeping(host, { keyId: "a" }).find([`resp_${"b".repeat(32)}`])).toEqual(new Map());
  });

  it("stores nothing where it is off, and nothing of a key that keeps nothing", () => {
    expect(keeperOf(fakeHost(), {}, { ...CONFIG, store: "off" }).keeper).toBeUndefined();
    expect(keeperOf(fakeHost(), { metadata: { no_store: true } }).keeper).toBeUndefined();
    const unknown = fakeExchange({ identity: undefined });
    void responses.create(CONFIG, fakeHost()).beforeBody?.(unknown);
    expect(KEEPER.get(unknown)).toBeUndefined();
  });

  it("counts an entry for its key, and for all keys as a part", async () => {
    const bounds: (readonly StateBound[])[] = [];
    const host = hostWith({
      set: (_key, _bytes, _ttl, _holder, of = []) => bounds.push(of) > 0,
    });
    await keeping(host, { keyId: "a" }).keep(ID, ENTRY);
    expect(bounds).toEqual([
      [
        { name: "responses:a:", maxBytes: 8 * 1_024 },
        { name: "responses", maxBytes: 32 * 1_024, part: "responses:a:" },
      ],
    ]);
  });

  it("says that an entry is not stored when it is too large, refused or lost", async () => {
    const large = { version: 1, text: "x".repeat(3_000) };
    expect(await keeping(fakeHost()).keep(ID, large)).toBe(false);
    expect(await keeping(hostWith({ set: () => false })).keep(ID, ENTRY)).toBe(false);
    const away = async (): Promise<never> => {
      throw new Error("away");
    };
    expect(await keeping(hostWith({ set: away })).keep(ID, ENTRY)).toBe(false);
    const broken = (): never => {
      throw new Error("broken");
    };
    expect(await keeping(hostWith({ set: broken })).keep(ID, ENTRY)).toBe(false);
  });

  it("is overloaded when entries cannot be read, or the process has no room for them", async () => {
    const away = async (): Promise<never> => {
      throw new Error("away");
    };
    await expect(keeping(hostWith({ get: away })).find([ID])).rejects.toMatchObject({
      code: "overloaded",
    });
    const host = fakeHost();
    await keeping(host).keep(ID, ENTRY);
    const exchange = fakeExchange({ identity: fakeIdentity(), hold: () => false });
    void responses.create(CONFIG, host).beforeBody?.(exchange);
    await expect(KEEPER.get(exchange)?.find([ID])).rejects.toMatchObject({ code: "overloaded" });
  });

  it("refuses options that store nothing", () => {
    const faulty = (changes: Partial<ResponsesConfig>) =>
      (responses.check?.({ ...CONFIG, ...changes }) ?? []).map(({ path }) => path[0]);
    expect(faulty({})).toEqual([]);
    expect(faulty({ ttl: "0s" })).toEqual(["ttl"]);
    expect(faulty({ max_entry: "0b" })).toEqual(["max_entry"]);
    expect(faulty({ max_per_key: "1kb" })).toEqual(["max_per_key"]);
    expect(faulty({ max_total: "4kb" })).toEqual(["max_total"]);
  });
});

describe("the step stored-responses", () => {
  const face: Partial<FaceKeeping> = {
    idOf: ({ parameters }) => parameters["response_id"],
    answer: ({ method }, entry) =>
      method === "DELETE" ? { document: { deleted: true }, deletes: true } : { document: entry },
  };
  const ask = async (host: Host, method: string, keyId = "a"): Promise<Exchange> => {
    const exchange = fakeExchange({ identity: fakeIdentity({ keyId }) });
    const client = { ...exchange.client, method, parameters: { response_id: ID } };
    const asked = Object.assign(exchange, { client });
    KEEPING.set(asked, face as FaceKeeping);
    await storedResponses.create({}, host).run({ exchange: asked }, async () => undefined);
    return asked;
  };

  it("reads and deletes for the key that stored", async () => {
    const host = fakeHost();
    await keeping(host, { keyId: "a" }).keep(ID, ENTRY);
    await expect(ask(host, "DELETE", "b")).rejects.toMatchObject({ code: "not_found" });
    const read = await ask(host, "GET");
    expect(read.reply).toMatchObject({ kind: "whole", document: { value: ENTRY } });
    await ask(host, "DELETE");
    await expect(ask(host, "GET")).rejects.toMatchObject({ code: "not_found" });
  });

  it("has no answer on a route whose face keeps nothing", async () => {
    const exchange = fakeExchange({ identity: fakeIdentity() });
    const step = storedResponses.create({}, fakeHost());
    await expect(step.run({ exchange }, async () => undefined)).rejects.toMatchObject({
      code: "not_found",
    });
  });
});
