/** The rows of `proof:isolation`: I1 to I14, and more of what keys share. */

import { setTimeout as pause } from "node:timers/promises";
import { admin, chat, MESSAGES } from "../system/support/client.ts";
import { again, flood, keyed, OPTIONS, type Row, SECONDS, type Stage } from "./isolation-stage.ts";
import { EVERY_MS } from "./victim.ts";

/** The first rows, by name. */
export const FIRST_ROWS: Readonly<Record<string, Row>> = {
  async connections(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("slow", { kind: "hang" });
    // Each worker has connections of its own.
    const count = 140 * Number(OPTIONS.workers);
    return {
      victim: () => chat(stage.gateway, { model: "up/good", messages: MESSAGES }, keyed(victim)),
      attack: (signal, refused) =>
        flood(stage, count, attacker, { model: "up/slow", stream: true }, signal, refused),
      refusal: /The provider up had no room|in_flight_share/,
    };
  },
  async echo(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    const body = JSON.stringify({ model: "echo", dimensions: 4_096, input: "a ".repeat(30_000) });
    return {
      victim: () => chat(stage.gateway, { model: "up/good", messages: MESSAGES }, keyed(victim)),
      async attack(signal, refused) {
        while (!signal.aborted) {
          const headers = {
            authorization: `Bearer ${attacker}`,
            "content-type": "application/json",
          };
          const response = await fetch(`${stage.gateway.publicUrl}/v1/embeddings`, {
            method: "POST",
            headers,
            body,
          });
          refused(await response.text());
          await pause(100);
        }
      },
      refusal: /words times dimensions/,
    };
  },
  async reservations(stage) {
    const { team_id } = (await (
      await admin(stage.gateway, "/team/new", { max_budget: 10 })
    ).json()) as { team_id: string };
    const [attacker, victim] = [await stage.newKey({ team_id }), await stage.newKey({ team_id })];
    stage.upstream.script("attacker", { kind: "hang" });
    const asked = { model: "dear", stream: true, n: 8, max_tokens: 120_000, user: "attacker" };
    return {
      victim: () =>
        chat(stage.gateway, { model: "dear", max_tokens: 100, messages: MESSAGES }, keyed(victim)),
      attack: (signal, refused) => flood(stage, 2, attacker, asked, signal, refused),
      refusal: /may reserve 2.5 US dollars of the team's budget/,
    };
  },
  async slots(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("attacker", { kind: "reply", delayMs: 10_000 });
    return {
      victim: () => chat(stage.gateway, { model: "slots", messages: MESSAGES }, keyed(victim)),
      attack: (signal, refused) =>
        flood(stage, 28, attacker, { model: "slots", user: "attacker" }, signal, refused),
      refusal: /This key has/,
    };
  },
  async room(stage) {
    const [one, two, victim] = [await stage.newKey(), await stage.newKey(), await stage.newKey()];
    stage.upstream.script("slow", { kind: "hang" });
    return {
      victim: () => chat(stage.gateway, { model: "other/good", messages: MESSAGES }, keyed(victim)),
      attack: (signal, refused) =>
        Promise.all(
          [one, two].map((key) => flood(stage, 200, key, { model: "up/slow" }, signal, refused)),
        ),
      refusal: /in_flight_share|no room|no place/,
    };
  },
  async cache(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("large", { kind: "reply", text: "x".repeat(1_000_000) });
    const ask = (key: string, model: string, text: string): Promise<Response> =>
      chat(
        stage.gateway,
        { model, caching: true, messages: [{ role: "user", content: text }] },
        keyed(key),
      );
    await (await ask(victim, "up/good", "kept")).text();
    return {
      async victim() {
        const response = await ask(victim, "up/good", "kept");
        return response.headers.get("x-sluice-cache") === "hit"
          ? response
          : new Response("the reply was not in the cache", { status: 599 });
      },
      async attack(signal) {
        for (let n = 0; !signal.aborted; n += 1) {
          await (await ask(attacker, "up/large", `entry ${n}`)).text();
          await pause(40);
        }
      },
      // The attacker loses its own replies; it is refused nothing.
      refusal: undefined,
    };
  },
};

const get = (stage: Stage, path: string, key: string, signal?: AbortSignal): Promise<Response> =>
  fetch(`${stage.gateway.publicUrl}${path}`, keyed(key, signal));

/** More rows, by name. */
export const MORE_ROWS: Readonly<Record<string, Row>> = {
  async ejection(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("attacker", { kind: "error", status: 500 });
    const asked = { model: "up/good", user: "attacker", num_retries: 0 };
    return {
      victim: () => chat(stage.gateway, { model: "up/good", messages: MESSAGES }, keyed(victim)),
      attack: (signal) => flood(stage, 5, attacker, asked, signal, () => undefined),
      // Its own requests fail at the upstream; nothing refuses them.
      refusal: undefined,
    };
  },
  async reports(stage) {
    const [attacker, writer] = [await stage.newKey(), await stage.newKey()];
    const tags = (turn: number): string[] =>
      Array.from({ length: 60 }, (_, n) => `report-${turn}-${n}`);
    for (let turn = 0; turn < 40; turn += 1) {
      await (
        await chat(
          stage.gateway,
          { model: "untagged", tags: tags(turn), messages: MESSAGES },
          keyed(writer),
        )
      ).text();
    }
    const keys: string[] = [];
    for (let n = 0; n < (3 * SECONDS * 1_000) / EVERY_MS + 20; n += 1)
      keys.push(await stage.newKey({ max_budget: 5 }));
    let next = 0;
    return {
      // Each request is the first one of a key with a budget.
      victim: () =>
        chat(
          stage.gateway,
          { model: "dear", max_tokens: 100, messages: MESSAGES },
          keyed(keys[next++] ?? ""),
        ),
      attack: (signal, refused) =>
        Promise.all(
          Array.from({ length: 60 }, () =>
            again(signal, 500, async () => {
              const response = await get(
                stage,
                "/spend/tags?start_date=2020-01-01&end_date=2100-01-01",
                attacker,
                signal,
              );
              const text = await response.text();
              if (response.status >= 400) refused(text);
            }),
          ),
        ),
      refusal: /The queue of spend reports/,
    };
  },
  async edit(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("attacker", { kind: "error", status: 500 });
    stage.addModel("{ id: added, targets: [{ provider: up, model: added }] }");
    for (;;) {
      const response = await chat(
        stage.gateway,
        { model: "added", messages: MESSAGES },
        keyed(victim),
      );
      await response.text();
      if (response.status === 200) break;
      await pause(100);
    }
    return {
      victim: () => chat(stage.gateway, { model: "added", messages: MESSAGES }, keyed(victim)),
      attack: (signal) =>
        flood(
          stage,
          10,
          attacker,
          { model: "up/other", user: "attacker" },
          signal,
          () => undefined,
        ),
      refusal: undefined,
    };
  },
  async tags(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey({ tags: ["team-blue"] })];
    return {
      victim: () =>
        chat(stage.gateway, { model: "dear", max_tokens: 10, messages: MESSAGES }, keyed(victim)),
      attack: (signal, refused) =>
        flood(stage, 5, attacker, { model: "dear", tags: ["team-blue"] }, signal, refused),
      refusal: /The tag .*team-blue.* belongs to other keys/,
    };
  },
  async fresh_tags(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    let session = 0;
    return {
      // Eight new tags a second at most; the victim brings one in three requests.
      victim: () =>
        chat(
          stage.gateway,
          {
            model: "dear",
            max_tokens: 10,
            tags: [`session-${Math.floor(session++ / 3)}`],
            messages: MESSAGES,
          },
          keyed(victim),
        ),
      attack: (signal, refused) =>
        again(signal, 50, async (turn) => {
          const tags = Array.from({ length: 60 }, (_, n) => `fresh-${turn}-${n}`);
          const response = await chat(
            stage.gateway,
            { model: "dear", max_tokens: 10, tags, messages: MESSAGES },
            keyed(attacker),
          );
          const text = await response.text();
          if (response.status >= 400) refused(text);
        }),
      refusal: /names new tags faster/,
    };
  },
  async latency(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("near", { kind: "reply", delayMs: 20 });
    stage.upstream.script("far", { kind: "reply", delayMs: 600 });
    stage.upstream.script("attacker", { kind: "reply", delayMs: 3_000 });
    return {
      victim: () => chat(stage.gateway, { model: "nearest", messages: MESSAGES }, keyed(victim)),
      attack: (signal) =>
        flood(stage, 1, attacker, { model: "nearest", user: "attacker" }, signal, () => undefined),
      refusal: undefined,
    };
  },
  async explanations(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("failing", { kind: "error", status: 502 });
    const failed = await chat(
      stage.gateway,
      { model: "other/failing", messages: MESSAGES },
      keyed(victim),
    );
    await failed.text();
    const id = failed.headers.get("x-request-id") ?? "";
    return {
      async victim() {
        const response = await admin(stage.gateway, `/requests/${id}`);
        const explained = (await response.json()) as { readonly steps?: unknown };
        return Array.isArray(explained.steps)
          ? new Response("")
          : new Response("no steps", { status: 599 });
      },
      attack: (signal, refused) =>
        Promise.all(
          Array.from({ length: 8 }, () =>
            again(signal, 1, async () => {
              const response = await chat(
                stage.gateway,
                { model: "no-such-model", messages: MESSAGES },
                keyed(attacker),
              );
              refused(await response.text());
            }),
          ),
        ),
      refusal: /model/,
    };
  },
  async window(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    stage.upstream.script("attacker", { kind: "hang" });
    const asked = { model: "minute", stream: true, max_tokens: 1_900_000, user: "attacker" };
    return {
      victim: () =>
        chat(stage.gateway, { model: "minute", max_tokens: 50, messages: MESSAGES }, keyed(victim)),
      attack: (signal, refused) => flood(stage, 5, attacker, asked, signal, refused),
      refusal: /limit of 2000000 tokens while other keys use it/,
    };
  },
  async unread(stage) {
    const [attacker, victim] = [await stage.newKey(), await stage.newKey()];
    // Written once: the upstream's own work would hold up the victim's calls.
    stage.upstream.script("large", {
      kind: "bytes",
      contentType: "application/json",
      body: wholeReply("x".repeat(2_000_000)),
    });
    return {
      victim: () => chat(stage.gateway, { model: "up/good", messages: MESSAGES }, keyed(victim)),
      attack: (signal, refused) =>
        Promise.all(
          Array.from({ length: 80 }, async () => {
            const response = await chat(
              stage.gateway,
              { model: "up/large", messages: MESSAGES },
              keyed(attacker, signal),
            );
            // A reply that is served is not read until the end.
            if (response.status >= 400) refused(await response.text());
            await pause(SECONDS * 2_000, undefined, { signal }).catch(() => undefined);
          }),
        ),
      refusal: /max_held/,
    };
  },
  async queue_of_team(stage) {
    const { team_id } = (await (await admin(stage.gateway, "/team/new", {})).json()) as {
      team_id: string;
    };
    const [attacker, victim] = [await stage.newKey({ team_id }), await stage.newKey({ team_id })];
    stage.upstream.script("slow", { kind: "hang" });
    return {
      victim: () => chat(stage.gateway, { model: "up/good", messages: MESSAGES }, keyed(victim)),
      attack: (signal, refused) =>
        flood(stage, 140, attacker, { model: "up/slow" }, signal, refused),
      refusal: /This key has|in_flight_share/,
    };
  },
};

/** A reply of the reference API, as its text. */
function wholeReply(content: string): string {
  const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  return JSON.stringify({
    id: "chatcmpl-large",
    object: "chat.completion",
    created: 1,
    model: "large",
    choices,
    usage,
  });
}
