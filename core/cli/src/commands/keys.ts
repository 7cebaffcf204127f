/** `sluice keys …`: makes, shows and changes virtual keys of the running gateway. */

import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { type JsonObject, errorReason } from "@sluice/contract";
import { adminClient, type AdminOptions } from "../admin-client.ts";
import { CommandError, EXIT } from "../exit.ts";
import { printRecord, printTable } from "../print/records.ts";
import { bodyOf, type RecordOptions, withClear, withKeyOptions } from "../record-options.ts";

type Options = AdminOptions & RecordOptions & { readonly json?: boolean };

const PAGE_SIZE = "100";

/** Adds the commands. `shared` adds the options that say where the gateway is. */
export function addKeyCommands(keys: Command, shared: (command: Command) => Command): void {
  const command = (name: string, description: string): Command =>
    shared(keys.command(name)).description(description);

  withKeyOptions(command("create", "make a key; it is shown this once"))
    .option("--blocked", "make it blocked")
    .option(
      "--key-file <file>",
      "a file that holds the key itself, in place of a new one; - reads it from standard input",
    )
    .action(async (options: Options) => {
      const body = {
        ...bodyOf(options, "key_alias"),
        ...(options["blocked"] === true && { blocked: true }),
        ...givenKey(options["keyFile"]),
      };
      const made = (await adminClient(options)("/key/generate", body)) as JsonObject;
      show(options, made, () => showSecret(made));
    });
  command("list", "list keys, the declared ones first")
    .option("--alias <name>", "the key of this alias")
    .option("--user <id>", "keys of this user")
    .option("--team <id>", "keys of this team")
    .option("--page <number>", `the page, ${PAGE_SIZE} keys each`, "1")
    .action(listKeys);
  command("info <key>", "show a key, by its id, its alias or the key itself").action(
    async (key: string, options: Options) => {
      const { info } = (await adminClient(options)(
        `/key/info?${String(new URLSearchParams({ key }))}`,
      )) as { info: JsonObject };
      show(options, info, () => printRecord(info));
    },
  );
  withClear(
    withKeyOptions(command("update <key>", "change what is named and keep the rest")),
  ).action(async (key: string, options: Options) => {
    const changed = (await adminClient(options)("/key/update", {
      ...bodyOf(options, "key_alias"),
      key,
    })) as JsonObject;
    show(options, changed, () => printRecord(changed));
  });
  addSwitches(command);
  command("rotate <key>", "give a key a new secret, shown this once")
    .option("--grace-period <span>", "how long the old secret goes on: 10m; default: 0s")
    .addOption(new Option("--grace <span>").hideHelp())
    .action(async (key: string, options: Options) => {
      const body = {
        key,
        grace_period: String(options["gracePeriod"] ?? options["grace"] ?? "0s"),
      };
      const made = (await adminClient(options)("/key/regenerate", body)) as JsonObject;
      show(options, made, () => showSecret(made));
    });
}

/** Block, unblock and revoke. */
function addSwitches(command: (name: string, description: string) => Command): void {
  for (const [name, done] of [
    ["block", "is blocked"],
    ["unblock", "works again"],
  ] as const) {
    command(`${name} <key>`, `${name} a key, for its very next request`).action(
      async (key: string, options: Options) => {
        const changed = (await adminClient(options)(`/key/${name}`, { key })) as JsonObject;
        show(options, changed, () => console.log(`${String(changed["token_id"])} ${done}.`));
      },
    );
  }
  command("revoke <keys...>", "delete keys for ever").action(
    async (listed: string[], options: Options) => {
      const answer = (await adminClient(options)("/key/delete", { keys: listed })) as {
        deleted_keys: string[];
      };
      show(options, answer, () =>
        console.log(answer.deleted_keys.map((id) => `${id} is gone.`).join("\n")),
      );
    },
  );
}

async function listKeys(options: Options): Promise<void> {
  const filters = {
    user_id: options["user"],
    team_id: options["team"],
    key_alias: options["alias"],
    page: options["page"],
  };
  const query = new URLSearchParams({ size: PAGE_SIZE });
  for (const [name, value] of Object.entries(filters))
    if (typeof value === "string") query.set(name, value);
  const answer = (await adminClient(options)(`/key/list?${String(query)}`)) as KeyList;
  show(options, answer, () => {
    printTable(COLUMNS, answer.keys);
    const { current_page: page, total_pages: pages, total_count: total } = answer;
    if (pages > 1) console.log(`page ${page} of ${pages}, ${total} keys`);
  });
}

/** The key of a file. It is no argument: other users of the machine see those. */
function givenKey(file: unknown): JsonObject {
  if (typeof file !== "string") return {};
  try {
    return { key: readFileSync(file === "-" ? process.stdin.fd : file, "utf8").trim() };
  } catch (error) {
    throw new CommandError(EXIT.usage, `${file} cannot be read: ${errorReason(error)}`);
  }
}

interface KeyList {
  readonly keys: readonly JsonObject[];
  readonly total_count: number;
  readonly current_page: number;
  readonly total_pages: number;
}

const COLUMNS = {
  ID: (key: JsonObject) => key["token_id"],
  ALIAS: (key: JsonObject) => key["key_alias"],
  KEY: (key: JsonObject) => key["key_name"],
  USER: (key: JsonObject) => key["user_id"],
  TEAM: (key: JsonObject) => key["team_id"],
  MODELS: (key: JsonObject) => key["models"],
  LIMITS: limitsOf,
  EXPIRES: (key: JsonObject) => key["expires"],
  STATE: stateOf,
};

function stateOf({ declared, blocked, expires }: JsonObject): string {
  if (blocked === true) return "blocked";
  if (typeof expires === "string" && Date.parse(expires) <= Date.now()) return "expired";
  return declared === true ? "declared" : "";
}

/** `1000 rpm, 5 parallel, 10 USD per 30d`. */
export function limitsOf(record: JsonObject): string {
  const {
    rpm_limit: rpm,
    tpm_limit: tpm,
    max_parallel_requests: parallel,
    max_budget: budget,
    budget_duration: span,
  } = record;
  const parts = [
    ...(typeof rpm === "number" ? [`${rpm} rpm`] : []),
    ...(typeof tpm === "number" ? [`${tpm} tpm`] : []),
    ...(typeof parallel === "number" ? [`${parallel} parallel`] : []),
    ...(typeof budget === "number"
      ? [`${budget} USD${typeof span === "string" ? ` per ${span}` : ""}`]
      : []),
  ];
  return parts.join(", ");
}

function showSecret(made: JsonObject): void {
  const until = made["previous_key_until"];
  console.log(`Key ${String(made["token_id"])}, shown this once:\n\n  ${String(made["key"])}\n`);
  if (typeof until === "string") console.log(`The old one works until ${until}.`);
}

function show(options: Options, answer: unknown, print: () => void): void {
  if (options.json === true) console.log(JSON.stringify(answer, null, 2));
  else print();
}
