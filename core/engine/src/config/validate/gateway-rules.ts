/**
 * What the entries of gateway.yaml say of each other: names that must exist, names that must be one
 * of a kind.
 */

import { callHeaderFaults } from "./call-header-rules.ts";
import { nameFix, type Fault } from "./explain.ts";
import { modelReferenceFaults } from "./model-rules.ts";
import { formatPath, valueAtPath } from "../files/path.ts";
import { TIME_FORMS, timeOf } from "../time-of.ts";

/** Names of providers that would collide with the gateway's own paths. */
const RESERVED_PROVIDERS: readonly string[] = ["v1", "models", "spend", "health"];

/**
 * The faults of a gateway file that a schema cannot express. Reads whatever is there; schemas
 * report what is not.
 */
export function gatewayFaults(gateway: unknown): Fault[] {
  return [
    ...providerFaults(gateway),
    ...callHeaderFaults(gateway),
    ...modelFaults(gateway),
    ...modelReferenceFaults(gateway),
    ...keyFaults(gateway),
    ...listenerFaults(gateway),
    ...timeZoneFaults(gateway),
    ...previousKeyFaults(gateway),
  ];
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
      if (provider !== undefined && !providers.includes(provider)) {
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

/** Limits of a key that have two words. */
const TWO_WORDS = [
  ["rpm", "rpm_limit"],
  ["tpm", "tpm_limit"],
  ["max_parallel_requests", "max_parallel"],
] as const;

function keyFaults(gateway: unknown): Fault[] {
  const models = listOf(gateway, "models");
  const ids = models.map((model) => textOf(model, "id")).filter((id) => id !== undefined);
  const groups = models
    .flatMap((model) => listOf(model, "access_groups"))
    .filter((group) => typeof group === "string");
  const known = [...new Set([...ids, ...groups])];
  const guardrails = Object.keys(sectionOf(gateway, "guardrails"));
  const faults = duplicates(gateway, "keys", "alias");
  for (const [index, key] of listOf(gateway, "keys").entries()) {
    const [max, soft] = ["max_budget", "soft_budget"].map((name) => valueAtPath(key, [name]));
    if (typeof max === "number" && typeof soft === "number" && soft > max) {
      const path = ["keys", index, "soft_budget"];
      const message = `\`${formatPath(path)}\` exceeds \`max_budget\`: the warning would never appear`;
      faults.push({ path, on: "value", message, fix: "write less than `max_budget`" });
    }
    for (const [word, other] of TWO_WORDS) {
      if (valueAtPath(key, [word]) === undefined || valueAtPath(key, [other]) === undefined)
        continue;
      const path = ["keys", index, other];
      faults.push({
        path,
        on: "key",
        message: `\`${formatPath(path)}\` is an alias of \`${word}\`, which is also there`,
        fix: `keep \`${word}\``,
      });
    }
    for (const [place, name] of listOf(key, "guardrails").entries()) {
      if (typeof name !== "string" || guardrails.includes(name)) continue;
      const path = ["keys", index, "guardrails", place];
      const message = `\`${formatPath(path)}\` names "${name}", which is not under \`guardrails\``;
      faults.push({
        path,
        on: "value",
        message,
        fix: nameFix(name, guardrails, "add it to `guardrails`"),
      });
    }
    for (const [place, name] of listOf(key, "models").entries()) {
      if (typeof name !== "string" || known.includes(name) || name.endsWith("*")) continue;
      if (ids.some((id) => id.endsWith("*") && name.startsWith(id.slice(0, -1)))) continue;
      const path = ["keys", index, "models", place];
      const message = `\`${formatPath(path)}\` names "${name}", which is neither a model nor an access group`;
      faults.push({ path, on: "value", message, fix: nameFix(name, known, "add it to `models`") });
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

/** The faults of entries of a list whose name another entry has already. */
function duplicates(gateway: unknown, list: string, key: string): Fault[] {
  const first = new Map<string, number>();
  const faults: Fault[] = [];
  for (const [index, entry] of listOf(gateway, list).entries()) {
    const name = textOf(entry, key);
    if (name === undefined) continue;
    const earlier = first.get(name);
    if (earlier === undefined) {
      first.set(name, index);
      continue;
    }
    const path = [list, index, key];
    const message = `\`${formatPath(path)}\` is "${name}", which \`${formatPath([list, earlier])}\` is already`;
    faults.push({ path, on: "value", message, fix: "rename or remove one of the two" });
  }
  return faults;
}

function listOf(value: unknown, key: string): readonly unknown[] {
  const list = valueAtPath(value, [key]);
  return Array.isArray(list) ? (list as readonly unknown[]) : [];
}

function sectionOf(value: unknown, key: string): object {
  const section = valueAtPath(value, [key]);
  return typeof section === "object" && section !== null && !Array.isArray(section) ? section : {};
}

function textOf(value: unknown, key: string): string | undefined {
  const text = valueAtPath(value, [key]);
  return typeof text === "string" ? text : undefined;
}
