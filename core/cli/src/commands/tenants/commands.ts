/** `sluice organizations`, `users`, `customers`, `budgets` and `access-groups`. */

import type { Command } from "commander";
import type { JsonObject } from "@sluice/contract";
import { adminClient } from "../../admin-client.ts";
import { bodyOf, list, withBlockOptions, withClear } from "../../record-options.ts";
import { keysLine, queryOf, show, showPage, showRecord, type TenantOptions } from "./answers.ts";
import { type TenantCommands, TENANTS } from "./kinds.ts";

const PAGE = "100";

/** Adds the commands of all kinds. */
export function addTenantCommands(program: Command, shared: (command: Command) => Command): void {
  for (const kind of TENANTS)
    addKind(
      kind,
      program.command(kind.command).description(`${kind.noun}s of the running gateway`),
      shared,
    );
}

function addKind(
  kind: TenantCommands,
  parent: Command,
  shared: (command: Command) => Command,
): void {
  const command = (name: string, description: string): Command =>
    shared(parent.command(name)).description(description);
  const { noun } = kind;
  const id = kind.makesIds ? "[id]" : "<id>";

  withFields(kind, command(`create ${id}`, `make a ${noun}`), true).action(
    async (given: string | undefined, options: TenantOptions) => {
      const made = await ask(kind, options, "new", {
        ...fieldsOf(kind, options),
        ...named(kind, given),
      });
      show(options, made, () => showRecord(made));
    },
  );
  addList(kind, command("list", `list ${noun}s`));
  withOwner(kind, command("info <id>", `show a ${noun}`)).action(
    async (given: string, options: TenantOptions) => {
      const query = queryOf(options, ownerOf(kind), { [kind.idField]: given });
      const answer = (await adminClient(options)(`${kind.path}/info?${query}`)) as JsonObject;
      const info = answer[kind.infoField] as JsonObject;
      show(options, info, () => showRecord(info));
    },
  );
  withClear(
    withFields(kind, command("update <id>", "change what is named and keep the rest"), false),
  ).action(async (given: string, options: TenantOptions) => {
    const body = { ...fieldsOf(kind, options), ...named(kind, given) };
    const changed = await ask(kind, options, "update", body);
    show(options, changed, () => showRecord(changed));
  });
  if (kind.hasLimits && kind.aliasField !== null) addSwitches(kind, command);
  addDeletion(kind, command("delete <ids...>", `delete ${noun}s for ever`));
}

function addList(kind: TenantCommands, command: Command): void {
  for (const option of Object.keys(kind.filters))
    command.option(`--${option} <id>`, `those of this ${option}`);
  command
    .option("--search <text>", "those whose id or alias begins with it")
    .option("--cursor <cursor>", "the page after another one")
    .action(async (options: TenantOptions) => {
      const names = { ...kind.filters, search: "search", cursor: "cursor" };
      const query = queryOf(options, names, { limit: PAGE });
      const answer = (await adminClient(options)(`${kind.path}/list?${query}`)) as JsonObject;
      const rows = answer[kind.listField] as readonly JsonObject[];
      show(options, answer, () => showPage(kind.columns, rows, answer["next_cursor"]));
    });
}

function addSwitches(
  kind: TenantCommands,
  command: (name: string, description: string) => Command,
): void {
  for (const [name, done] of [
    ["block", "is blocked"],
    ["unblock", "works again"],
  ] as const)
    withOwner(kind, command(`${name} <id>`, `${name} a ${kind.noun}`)).action(
      async (given: string, options: TenantOptions) => {
        const body = { ...ownerFields(kind, options), ...named(kind, given) };
        const changed = await ask(kind, options, name, body);
        show(options, changed, () => console.log(`${given} ${done}.`));
      },
    );
}

function addDeletion(kind: TenantCommands, command: Command): void {
  if (kind.path === "/user")
    command.option("--keys <what>", "what becomes of the user's keys: block (default) or delete");
  withOwner(kind, command).action(async (ids: string[], options: TenantOptions) => {
    const { keys } = options;
    const body = {
      ...ownerFields(kind, options),
      [kind.idsField]: ids,
      ...(typeof keys === "string" && { keys }),
    };
    const answer = await ask(kind, options, "delete", body);
    show(options, answer, () => {
      for (const id of answer[`deleted_${kind.listField}`] as readonly string[])
        console.log(`${id} is gone.${keysLine(answer)}`);
      for (const id of (answer["in_use"] as readonly string[] | undefined) ?? [])
        console.log(`${id} is in use, and stays.`);
    });
  });
}

/** Options of the fields. A budget and an access group stay in their organization. */
function withFields(kind: TenantCommands, command: Command, isNew: boolean): Command {
  if (kind.hasLimits) withBlockOptions(command, kind.path !== "/budget");
  else command.option("--models <list>", "model ids and wildcards, separated by commas", list);
  if (kind.path === "/user")
    command
      .option("--email <address>", "the e-mail, which no other user has")
      .option("--kind <kind>", "person, or service for an account that cannot sign in")
      .option("--organizations <list>", "organizations, separated by commas", list);
  const isOwned = kind.isOwned && (isNew || kind.path === "/customer");
  return isOwned ? withOwner(kind, command) : command;
}

function withOwner(kind: TenantCommands, command: Command): Command {
  const isNeeded = kind.isOwned && (kind.path === "/customer" || command.name() === "create");
  return isNeeded
    ? command.option("--organization <id>", "the organization it belongs to")
    : command;
}

function ownerOf({ isOwned }: TenantCommands): Readonly<Record<string, string>> {
  return isOwned ? { organization: "organization_id" } : {};
}

function ownerFields(kind: TenantCommands, options: TenantOptions): JsonObject {
  const { organization } = options;
  return kind.isOwned && typeof organization === "string" ? { organization_id: organization } : {};
}

function fieldsOf(kind: TenantCommands, options: TenantOptions): JsonObject {
  const { organization: _owner, email, kind: kindOf, organizations, ...others } = options;
  return {
    ...bodyOf(others, kind.aliasField ?? "alias"),
    ...ownerFields(kind, options),
    ...(typeof email === "string" && { user_email: email }),
    ...(typeof kindOf === "string" && { kind: kindOf }),
    ...(Array.isArray(organizations) && { organizations: organizations.map(String) }),
  };
}

function named({ idField }: TenantCommands, id: string | undefined): JsonObject {
  return id === undefined ? {} : { [idField]: id };
}

async function ask(
  { path }: TenantCommands,
  options: TenantOptions,
  route: string,
  body: JsonObject,
): Promise<JsonObject> {
  return (await adminClient(options)(`${path}/${route}`, body)) as JsonObject;
}
