/** `sluice teams …`: makes, shows and changes teams of the running gateway. */

import type { Command } from "commander";
import type { JsonObject } from "@sluice/contract";
import { adminClient, type AdminOptions } from "../admin-client.ts";
import { limitsOf } from "./keys.ts";
import { keysLine, queryOf } from "./tenants/answers.ts";
import { printRecord, printTable } from "../print/records.ts";
import { bodyOf, type RecordOptions, withClear, withTeamOptions } from "../record-options.ts";

type Options = AdminOptions & RecordOptions & { readonly json?: boolean };

/** Adds the commands. `shared` adds the options that say where the gateway is. */
export function addTeamCommands(teams: Command, shared: (command: Command) => Command): void {
  const command = (name: string, description: string): Command =>
    shared(teams.command(name)).description(description);

  withTeamOptions(command("create [team]", "make a team, with an id of yours or a new one")).action(
    async (team: string | undefined, options: Options) => {
      const body = {
        ...bodyOf(options, "team_alias"),
        ...(team !== undefined && { team_id: team }),
      };
      const made = (await adminClient(options)("/team/new", body)) as JsonObject;
      show(options, made, () => printRecord(made));
    },
  );
  command("list", "list teams")
    .option("--organization <id>", "those of this organization")
    .option("--user <id>", "those with this member")
    .option("--search <text>", "those whose id or alias begins with it")
    .action(listTeams);
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
    withTeamOptions(command("update <team>", "change what is named and keep the rest")),
  ).action(async (team: string, options: Options) => {
    const body = { ...bodyOf(options, "team_alias"), team_id: team };
    const { data } = (await adminClient(options)("/team/update", body)) as { data: JsonObject };
    show(options, data, () => printRecord(data));
  });
  addSwitches(command);
  command("delete <teams...>", "delete teams for ever")
    .option("--keys <what>", "what becomes of their keys: block, delete or move:<team>")
    .action(async (listed: string[], options: Options) => {
      const { keys } = options;
      const answer = (await adminClient(options)("/team/delete", {
        team_ids: listed,
        ...(typeof keys === "string" && { keys }),
      })) as JsonObject & { readonly deleted_teams: readonly string[] };
      show(options, answer, () => {
        for (const id of answer.deleted_teams) console.log(`${id} is gone.`);
        const line = keysLine(answer).trim();
        if (line !== "") console.log(line);
      });
    });
}

/** Block and unblock. */
function addSwitches(command: (name: string, description: string) => Command): void {
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
}

const PAGE = "200";
const FILTERS = { organization: "organization_id", user: "user_id", search: "search" };

/** All pages: the answer of the gateway has a bound. */
async function listTeams(options: Options): Promise<void> {
  const ask = adminClient(options);
  const teams: JsonObject[] = [];
  let cursor: unknown;
  do {
    const fixed = { limit: PAGE, ...(typeof cursor === "string" && { cursor }) };
    const page = (await ask(`/team/list?${queryOf(options, FILTERS, fixed)}`)) as JsonObject;
    teams.push(...(page["teams"] as readonly JsonObject[]));
    cursor = page["next_cursor"];
  } while (typeof cursor === "string");
  show(options, teams, () => printTable(COLUMNS, teams));
}

interface TeamInfo {
  readonly team_info: JsonObject;
  readonly keys: readonly JsonObject[];
}

const COLUMNS = {
  ID: (team: JsonObject) => team["team_id"],
  ALIAS: (team: JsonObject) => team["team_alias"],
  ORGANIZATION: (team: JsonObject) => team["organization_id"],
  MODELS: (team: JsonObject) => team["models"],
  LIMITS: limitsOf,
  STATE: (team: JsonObject) => (team["blocked"] === true ? "blocked" : ""),
};

function show(options: Options, answer: unknown, print: () => void): void {
  if (options.json === true) console.log(JSON.stringify(answer, null, 2));
  else print();
}
