/** `sluice teams …`: makes, shows and changes teams of the running gateway. */

import type { Command } from "commander";
import type { JsonObject } from "@sluice/contract";
import { adminClient, type AdminOptions } from "../admin-client.ts";
import { limitsOf } from "./keys.ts";
import { printRecord, printTable } from "../print/records.ts";
import { bodyOf, type RecordOptions, withClear, withLimitOptions } from "../record-options.ts";

type Options = AdminOptions & RecordOptions & { readonly json?: boolean };

/** Adds the commands. `shared` adds the options that say where the gateway is. */
export function addTeamCommands(teams: Command, shared: (command: Command) => Command): void {
  const command = (name: string, description: string): Command =>
    shared(teams.command(name)).description(description);

  withLimitOptions(
    command("create [team]", "make a team, with an id of yours or a new one"),
  ).action(async (team: string | undefined, options: Options) => {
    const body = { ...bodyOf(options, "team_alias"), ...(team !== undefined && { team_id: team }) };
    const made = (await adminClient(options)("/team/new", body)) as JsonObject;
    show(options, made, () => printRecord(made));
  });
  command("list", "list teams").action(async (options: Options) => {
    const listed = (await adminClient(options)("/team/list")) as JsonObject[];
    show(options, listed, () => printTable(COLUMNS, listed));
  });
  command("info <team>", "show a team and its keys").action(
    async (team: string, options: Options) => {
      const answer = (await adminClient(options)(
        `/team/info?${String(new URLSearchParams({ team_id: team }))}`,
      )) as TeamInfo;
      show(options, answer, () => {
        printRecord(answer.team_info);
        console.log(
          `keys: ${answer.keys.map((key) => String(key["token_id"])).join(", ") || "none"}`,
        );
      });
    },
  );
  withClear(
    withLimitOptions(command("update <team>", "change what is named and keep the rest")),
  ).action(async (team: string, options: Options) => {
    const body = { ...bodyOf(options, "team_alias"), team_id: team };
    const { data } = (await adminClient(options)("/team/update", body)) as { data: JsonObject };
    show(options, data, () => printRecord(data));
  });
  for (const [name, done] of [
    ["block", "is blocked, with all its keys"],
    ["unblock", "works again"],
  ] as const) {
    command(`${name} <team>`, `${name} a team and thereby its keys`).action(
      async (team: string, options: Options) => {
        const changed = (await adminClient(options)(`/team/${name}`, {
          team_id: team,
        })) as JsonObject;
        show(options, changed, () => console.log(`${team} ${done}.`));
      },
    );
  }
  command("delete <teams...>", "delete teams and their keys for ever").action(
    async (listed: string[], options: Options) => {
      const answer = (await adminClient(options)("/team/delete", { team_ids: listed })) as {
        deleted_teams: string[];
      };
      show(options, answer, () =>
        console.log(answer.deleted_teams.map((id) => `${id} is gone, with its keys.`).join("\n")),
      );
    },
  );
}

interface TeamInfo {
  readonly team_info: JsonObject;
  readonly keys: readonly JsonObject[];
}

const COLUMNS = {
  ID: (team: JsonObject) => team["team_id"],
  ALIAS: (team: JsonObject) => team["team_alias"],
  MODELS: (team: JsonObject) => team["models"],
  LIMITS: limitsOf,
  STATE: (team: JsonObject) => (team["blocked"] === true ? "blocked" : ""),
};

function show(options: Options, answer: unknown, print: () => void): void {
  if (options.json === true) console.log(JSON.stringify(answer, null, 2));
  else print();
}
