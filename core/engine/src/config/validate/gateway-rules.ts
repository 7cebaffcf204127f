/**
 * What the entries of gateway.yaml say of each other: names that must exist, names that must be one
 * of a kind.
 */

import { callHeaderFaults } from "./call-header-rules.ts";
import { duplicates, listOf, sectionOf, textOf } from "./entries.ts";
import { nameFix, type Fault } from "./explain.ts";
import { keyFaults } from "./tenants/key-rules.ts";
import { modelReferenceFaults } from "./model-rules.ts";
import { formatPath, valueAtPath } from "../files/path.ts";
import { TIME_FORMS, timeOf } from "../time-of.ts";

/** Names of providers that would collide with the gateway's own paths. */
const RESERVED_PROVIDERS: readonly string[] = [
  "v1",
  "v1beta",
  "models",
  "spend",
  "health",
  "key",
  "team",
  "user",
];

/**
 * The faults of a gateway file that a schema cannot express. Reads whatever is there; schemas
 * report what is not.
 */
export function gatewayFaults(gateway: unknown, keyHeaders: readonly string[] = []): Fault[] {
  return [
    ...providerFaults(gateway),
    ...callHeaderFaults(gateway, keyHeaders),
    ...modelFaults(gateway),
    ...modelReferenceFaults(gateway),
    ...keyFaults(gateway),
    ...listenerFaults(gateway),
    ...timeZoneFaults(gateway),
    ...previousKeyFaults(gateway),
    ...configSourceFaults(gateway),
  ];
}

/** The store has the configuration that it holds for every machine. */
function configSourceFaults(gateway: unknown): Fault[] {
  const source = valueAtPath(gateway, ["config", "source"]);
  const store = valueAtPath(gateway, ["store", "use"]) ?? "sqlite";
  if (source !== "postgres" || store === "postgres") return [];
  const message = `\`config.source\` is postgres, and the store is ${String(store)}`;
  const fix = "write `store: { use: postgres, url: … }`, or remove `config`";
  return [{ path: ["config", "source"], on: "value", message, fix }];
}

function providerFaults(gateway: unknown): Fault[] {
  return Object.keys(sectionOf(gateway, "providers")).flatMap((name): Fault[] => {
    const path = ["providers", name];
    if (RESERVED_PROVIDERS.includes(name)) {
      const message = `\`${formatPath(path)}\` has a name that the gateway's own paths use`;
      return [{ path, on: "key", message, fix: "choose another name" }];
    }
    if (/^[a-z][a-z0-9_-]*$/.test(name)) return [];
    const message = `\`${formatPath(path)}\` is not a valid name for a provider`;
    return [
      {
        path,
        on: "key",
        message,
        fix: "write lower-case letters, digits and hyphens, a letter first",
      },
    ];
  });
}

function modelFaults(gateway: unknown): Fault[] {
  const providers = Object.keys(sectionOf(gateway, "providers"));
  // A section of another form has its own finding.
  const areKnown = !Array.isArray(valueAtPath(gateway, ["providers"]));
  const faults = duplicates(gateway, "models", "id");
  for (const [index, model] of listOf(gateway, "models").entries()) {
    const id = textOf(model, "id");
    if (id !== undefined && /\*./.test(id)) {
      const path = ["models", index, "id"];
      faults.push({
        path,
        on: "value",
        message: `\`${formatPath(path)}\` has a \`*\` before its end`,
        fix: "keep one `*`, at the end",
      });
    }
    for (const [place, target] of listOf(model, "targets").entries()) {
      const base = ["models", index, "targets", place];
      const provider = textOf(target, "provider");
      if (areKnown && provider !== undefined && !providers.includes(provider)) {
        const path = [...base, "provider"];
        const fix = nameFix(provider, providers, "add it to `providers`");
        faults.push({
          path,
          on: "value",
          message: `\`${formatPath(path)}\` names "${provider}", which is not under \`providers\``,
          fix,
        });
      }
      if (textOf(target, "model")?.includes("*") === true && id?.endsWith("*") === false) {
        const path = [...base, "model"];
        const message = `\`${formatPath(path)}\` has a \`*\`, but the model's id has none`;
        faults.push({ path, on: "value", message, fix: "name one model, or end the id with `*`" });
      }
    }
  }
  return faults;
}

function listenerFaults(gateway: unknown): Fault[] {
  const port = valueAtPath(gateway, ["server", "port"]);
  const adminPort = valueAtPath(gateway, ["server", "admin", "port"]);
  const isSameHost =
    valueAtPath(gateway, ["server", "host"]) === valueAtPath(gateway, ["server", "admin", "host"]);
  if (typeof port !== "number" || port === 0 || port !== adminPort || !isSameHost) return [];
  const path = ["server", "admin", "port"];
  return [
    {
      path,
      on: "value",
      message: `\`${formatPath(path)}\` is ${port}, the port for clients`,
      fix: "choose another port for one of the two",
    },
  ];
}

function timeZoneFaults(gateway: unknown): Fault[] {
  const zone = valueAtPath(gateway, ["server", "time_zone"]);
  if (typeof zone !== "string" || isTimeZone(zone)) return [];
  const path = ["server", "time_zone"];
  const message = `\`${formatPath(path)}\` is "${zone}", which is not a time zone`;
  return [{ path, on: "value", message, fix: "write an IANA name, such as Europe/Berlin or UTC" }];
}

function previousKeyFaults(gateway: unknown): Fault[] {
  const path = ["server", "admin", "previous_key", "until"];
  const until = valueAtPath(gateway, path);
  if (typeof until !== "string" || timeOf(until, "UTC") !== undefined) return [];
  return [
    {
      path,
      on: "value",
      message: `\`${formatPath(path)}\` is "${until}", which is not a time`,
      fix: TIME_FORMS,
    },
  ];
}

function isTimeZone(name: string): boolean {
  // The default loads no tables of languages and zones.
  if (name === "UTC") return true;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
