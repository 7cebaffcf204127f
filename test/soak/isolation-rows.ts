/**
 * Rows of `proof:isolation` for state that the findings do not have: guardrail services, media,
 * hedges, repeats, keys, names.
 */

import { setTimeout as pause } from "node:timers/promises";
import { admin, chat, MESSAGES } from "../system/support/client.ts";
import { again, type Attack, flood, keyed, type Row, type Stage } from "./isolation-stage.ts";

const image = (url: string): object => ({
  model: "claude/any",
  max_tokens: 10,
  messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
});

const good = (stage: Stage, key: string): Promise<Response> =>
  chat(stage.gateway, { model: "up/good", messages: MESSAGES }, keyed(key));

/** Messages of about 95 bytes each. */
const manyMessages = (count: number): object[] =>
  Array.from({ length: count }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: `word ${at} ${"x".repeat(50)}`,
  }));

/** An attack with requests of about 290 KB for a model that does not exist. */
const largeRefusals = (stage: Stage, key: string): Omit<Attack, "victim"> => {
  const body = { model: "no-such-model", messages: manyMessages(3_000) };
  return {
    attack: (signal, refused) => flood(stage, 300, key, body, signal, refused),
    settleMs: 3_000,
    refusal: /no-such-model|in_flight_share/,
  };
};

/** Later rows, by name. */
export const LATER_ROWS: Readonly<Record<string, Row>> = {
  /** I5: the trial of an ejected deployment goes to a slow request. */
  async probe(stage) {
    const [one, two, victim] = [await stage.newKey(), await stage.newKey(), await stage.newKey()];
    const asked = { model: "up/probed", num_retries: 0 };
    return {
      victim: () => chat(stage.gateway, { ...asked, messages: MESSAGES }, keyed(victim)),
      async attack(signal, refused) {
        stage.upstream.script("probed", { kind: "error", status: 500 });
        for (let turn = 0; turn < 5; turn += 1) {
          for (const key of [one, two, victim]) {
            const messages = [{ role: "user", content: `${turn} of ${key}` }];
            await (await chat(stage.gateway, { ...asked, messages }, keyed(key))).text();
          }
        }
        stage.upstream.script("probed", { kind: "reply" });
        stage.upstream.script("attacker", { kind: "reply", delayMs: 60_000 });
        await flood(stage, 5, one, { ...asked, user: "attacker" }, signal, refused);
      },
      // Ejected for 5 s, and a trial has 5 s at most.
      settleMs: 12_000,
      refusal: /ejected|no target|overloaded/i,
    };
  },
  async guardrail_service(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    const ask = (key: string, content: string, signal?: AbortSignal): Promise<Response> =>
      chat(
        stage.gateway,
        { model: "up/good", guardrails: ["service"], messages: [{ role: "user", content }] },
        keyed(key, signal),
      );
    return {
      victim: () => ask(victim, "fine"),
      attack: (signal, refused) =>
        Promise.all(
          Array.from({ length: 30 }, () =>
            again(signal, 200, async () => {
              const response = await ask(attacker, "SLOW", signal);
              const text = await response.text();
              if (response.status === 503) refused(text);
            }),
          ),
        ),
      settleMs: 2_500,
      refusal: /The guardrail service had no free place for this key/,
    };
  },
  async media(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    return {
      victim: () => chat(stage.gateway, image(`${stage.serviceUrl}/medium.png`), keyed(victim)),
      attack: (signal, refused) =>
        flood(stage, 30, attacker, image(`${stage.serviceUrl}/SLOW.png`), signal, refused),
      settleMs: 4_000,
      refusal: /fetch|no room/,
    };
  },
  /**
   * Every 20th request of the victim stalls at its first target; without a hedge in time it takes 3
   * s.
   */
  async hedges(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    let asked = 0;
    stage.upstream.script("hedged", ({ parsed }) => {
      if (parsed?.["user"] === "attacker") return { kind: "reply", delayMs: 3_000 };
      asked += 1;
      return { kind: "reply", delayMs: asked % 20 === 0 ? 3_000 : 20 };
    });
    return {
      async victim() {
        const sinceMs = performance.now();
        const response = await chat(
          stage.gateway,
          { model: "hedged", messages: MESSAGES },
          keyed(victim),
        );
        return performance.now() - sinceMs < 2_500
          ? response
          : new Response("there was no hedge in time", { status: 599 });
      },
      attack: (signal, refused) =>
        flood(stage, 40, attacker, { model: "hedged", user: "attacker" }, signal, refused),
      settleMs: 4_000,
      // Its requests are slow; nothing refuses them.
      refusal: undefined,
    };
  },
  async repeats(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("large", { kind: "reply", text: "x".repeat(1_000_000) });
    const ask = (key: string, model: string, id: string): Promise<Response> =>
      chat(
        stage.gateway,
        { model, messages: MESSAGES },
        { headers: { authorization: `Bearer ${key}`, "idempotency-key": id } },
      );
    await (await ask(victim, "up/good", "kept")).text();
    return {
      async victim() {
        const response = await ask(victim, "up/good", "kept");
        return response.headers.has("idempotent-replayed")
          ? response
          : new Response("the result is gone", { status: 599 });
      },
      attack: (signal) =>
        again(
          signal,
          40,
          async (turn) => void (await (await ask(attacker, "up/large", `n-${turn}`)).text()),
        ),
      // The attacker loses its own results; it is refused nothing.
      refusal: undefined,
    };
  },
  async unknown_keys(stage) {
    const victim = await stage.newKey();
    return {
      victim: () => good(stage, victim),
      attack: (signal, refused) =>
        Promise.all(
          Array.from({ length: 8 }, (_, n) =>
            again(signal, 20, async (turn) =>
              refused(await (await good(stage, `sk-unknown-${n}-${turn}`)).text()),
            ),
          ),
        ),
      refusal: /key/,
    };
  },
  /**
   * Models that a wildcard takes and the upstream lacks: health, retry budgets, hedges and labels
   * are kept by model.
   */
  async invented_models(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("attacker", { kind: "error", status: 404 });
    return {
      victim: () => good(stage, victim),
      attack: (signal, refused) =>
        Promise.all(
          Array.from({ length: 8 }, (_, n) =>
            again(signal, 20, async (turn) => {
              const body = {
                model: `up/invented-${n}-${turn}`,
                user: "attacker",
                messages: MESSAGES,
              };
              refused(await (await chat(stage.gateway, body, keyed(attacker))).text());
            }),
          ),
        ),
      refusal: /error/,
    };
  },
  /** Text that is counted: clients leave streams whose tokens the gateway must count by itself. */
  async counted_streams(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("counted", {
      kind: "reply",
      text: "counted words ".repeat(2_000),
      eventDelayMs: 5,
    });
    return {
      victim: () => good(stage, victim),
      attack: (signal) =>
        Promise.all(
          Array.from({ length: 10 }, () =>
            again(signal, 20, async () => {
              const leaving = new AbortController();
              const content = "a".repeat(100_000);
              const body = {
                model: "up/counted",
                stream: true,
                messages: [{ role: "user", content }],
              };
              const answer = chat(stage.gateway, body, keyed(attacker, leaving.signal)).catch(
                () => undefined,
              );
              await pause(300);
              leaving.abort();
              await answer;
            }),
          ),
        ),
      // It is refused nothing; what it leaves is counted behind other work.
      refusal: undefined,
    };
  },
  /** The slots of a team (`max_parallel_requests`), which its keys share. */
  async team_slots(stage) {
    const { team_id } = (await (
      await admin(stage.gateway, "/team/new", { max_parallel_requests: 8 })
    ).json()) as {
      team_id: string;
    };
    const [attacker, victim] = [await stage.newKey({ team_id }), await stage.newKey({ team_id })];
    stage.upstream.script("slow", { kind: "hang" });
    return {
      victim: () => good(stage, victim),
      attack: (signal, refused) =>
        flood(stage, 20, attacker, { model: "up/slow" }, signal, refused),
      // 7 at a worker where the victim has no connection: it leaves one place to others.
      refusal: /This key may have [47] of the team's limit/,
    };
  },
  /** Large bodies are read, checked and written in turns of one event loop, also refused ones. */
  async turns(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    const body = { model: "up/good", messages: manyMessages(2_000) };
    return {
      victim: () => chat(stage.gateway, body, keyed(victim)),
      ...largeRefusals(stage, attacker),
    };
  },
  /** A stream with much unread text is read on in such turns. */
  async turns_of_streams(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("burst", { kind: "reply", text: `${"x".repeat(20_000)} `.repeat(12) });
    const body = { model: "up/burst", stream: true, messages: MESSAGES };
    return {
      victim: () => chat(stage.gateway, body, keyed(victim)),
      ...largeRefusals(stage, attacker),
    };
  },
  /** Each failed call is a row of the outbox and a line of the log. */
  async failures(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("attacker", { kind: "error", status: 400 });
    const body = { model: "other/failing", user: "attacker", messages: MESSAGES };
    return {
      victim: () => good(stage, victim),
      attack: (signal, refused) =>
        Promise.all(
          Array.from({ length: 8 }, () =>
            again(signal, 20, async () =>
              refused(await (await chat(stage.gateway, body, keyed(attacker))).text()),
            ),
          ),
        ),
      refusal: /error/,
    };
  },
  /** Each refused request is a line of the log; beyond a rate its rows are counted together. */
  async refusals(stage) {
    const [attacker, victim] = [await stage.newKey({ rpm_limit: 1 }), await stage.newKey()];
    return {
      victim: () => good(stage, victim),
      attack: (signal, refused) =>
        Promise.all(
          Array.from({ length: 8 }, () =>
            again(signal, 10, async () => refused(await (await good(stage, attacker)).text())),
          ),
        ),
      refusal: /requests per minute|rpm|rate/i,
    };
  },
  /**
   * The first call of every tenth request of the victim fails; without a repeat the request does.
   */
  async retries(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    let asked = 0;
    const failed = new Set<unknown>();
    stage.upstream.script("retried", ({ parsed }) => {
      const user = String(parsed?.["user"]);
      if (user === "attacker") return { kind: "error", status: 429 };
      if (!user.endsWith("0") || failed.has(user)) return { kind: "reply" };
      failed.add(user);
      return { kind: "error", status: 500 };
    });
    return {
      victim() {
        asked += 1;
        return chat(
          stage.gateway,
          { model: "up/retried", user: `victim-${asked}`, messages: MESSAGES },
          keyed(victim),
        );
      },
      attack: (signal, refused) =>
        flood(stage, 20, attacker, { model: "up/retried", user: "attacker" }, signal, refused),
      refusal: /error/,
    };
  },
};
