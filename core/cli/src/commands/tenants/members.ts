/** `sluice members …`: users in teams of the running gateway. */

import type { Command } from "commander";
import type { JsonObject } from "@sluice/contract";
import { adminClient } from "../../admin-client.ts";
import { bodyOf, withBlockOptions, withClear } from "../../record-options.ts";
import { limitsOf } from "../keys.ts";
import { keysLine, queryOf, show, showPage, showRecord, type TenantOptions } from "./answers.ts";

const PAGE = "100";
const FILTERS = { team: "team_id", user: "user_id", organization: "organization_id" };
const COLUMNS = {
  TEAM: (member: JsonObject) => member["team_id"],
  USER: (member: JsonObject) => member["user_id"],
  ROLE: (member: JsonObject) => member["role"],
  LIMITS: limitsOf,
  STATE: (member: JsonObject) => (member["blocked"] === true ? "blocked" : ""),
};

/** Adds the commands. */
export function addMemberCommands(members: Command, shared: (command: Command) => Command): void {
  const command = (name: string, description: string): Command =>
    shared(members.command(name)).description(description);
  const withRole = (changed: Command): Command =>
    withBlockOptions(changed, true).option(
      "--role <role>",
      "member, or admin, who manages the team's keys and members",
    );
  const write = async (route: string, ids: JsonObject, options: TenantOptions): Promise<void> => {
    const { role } = options;
    const body = {
      ...bodyOf(options, "member_alias"),
      ...(typeof role === "string" && { role }),
      ...ids,
    };
    const answer = (await adminClient(options)(`/team/${route}`, body)) as JsonObject;
    show(options, answer, () => showRecord(answer));
  };

  withRole(command("add <team> <user>", "make a user a member of a team")).action(
    async (team: string, user: string, options: TenantOptions) =>
      write("member_add", { team_id: team, user_id: user }, options),
  );
  withClear(
    withRole(command("update <team> <user>", "change what is named and keep the rest")),
  ).action(async (team: string, user: string, options: TenantOptions) =>
    write("member_update", { team_id: team, user_id: user }, options),
  );
  command("info <team> <user>", "show a member").action(
    async (team: string, user: string, options: TenantOptions) => {
      const query = String(new URLSearchParams({ team_id: team, user_id: user }));
      const answer = (await adminClient(options)(`/team/member_info?${query}`)) as JsonObject;
      const info = answer["member_info"] as JsonObject;
      show(options, info, () => showRecord(info));
    },
  );
  addList(command("list", "list members"));
  command("remove <team> <user>", "take a user out of a team")
    .option("--keys <what>", "what becomes of the user's keys there: block (default) or delete")
    .action(async (team: string, user: string, options: TenantOptions) => {
      const { keys } = options;
      const answer = (await adminClient(options)("/team/member_delete", {
        team_id: team,
        user_id: user,
        ...(typeof keys === "string" && { keys }),
      })) as JsonObject;
      show(options, answer, () => console.log(`${user} has left ${team}.${keysLine(answer)}`));
    });
}

function addList(command: Command): void {
  for (const option of Object.keys(FILTERS))
    command.option(`--${option} <id>`, `those of this ${option}`);
  command
    .option("--search <text>", "those whose user begins with it")
    .option("--cursor <cursor>", "the page after another one")
    .action(async (options: TenantOptions) => {
      const names = { ...FILTERS, search: "search", cursor: "cursor" };
      const query = queryOf(options, names, { limit: PAGE });
      const answer = (await adminClient(options)(`/team/member_list?${query}`)) as JsonObject;
      const rows = answer["members"] as readonly JsonObject[];
      show(options, answer, () => showPage(COLUMNS, rows, answer["next_cursor"]));
    });
}
