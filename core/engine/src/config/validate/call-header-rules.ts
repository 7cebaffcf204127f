/** What `call_headers` and `pass_headers` of a provider may not name. */

import { isObject } from "@sluice/kit";
import { mayBeCallHeader } from "@sluice/runtime";
import type { Fault } from "./explain.ts";
import { formatPath } from "../files/path.ts";

const FIX = "name headers of the upstream's own; credentials are options of the provider";

/**
 * The faults of the headers of every provider. Reads whatever is there; schemas report what is not.
 * `ofExtensions`: headers that carry a key for the clients of an extension.
 */
export function callHeaderFaults(gateway: unknown, ofExtensions: readonly string[] = []): Fault[] {
  const { providers, server } = isObject(gateway) ? gateway : {};
  if (!isObject(providers)) return [];
  const listed =
    isObject(server) && Array.isArray(server["auth_headers"]) ? server["auth_headers"] : [];
  const keyHeaders = [...listed.map((name) => String(name).toLowerCase()), ...ofExtensions];
  return Object.entries(providers).flatMap(([name, provider]): Fault[] => {
    if (!isObject(provider)) return [];
    const { call_headers: fixed, pass_headers: passed } = provider;
    const base = ["providers", name];
    const named = isObject(fixed) ? Object.keys(fixed) : [];
    const faults = named
      .filter((header) => !mayBeCallHeader(header.toLowerCase()))
      .map((header) => faultOf([...base, "call_headers", header], header, "key"));
    const unsafe = named
      .filter(
        (header) =>
          isObject(fixed) &&
          !/^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/.test(String(fixed[header])),
      )
      .map((header): Fault => {
        const path = [...base, "call_headers", header];
        return {
          path,
          on: "value",
          message: `\`${formatPath(path)}\` is not visible ASCII`,
          fix: "write a header's value",
        };
      });
    const refused = (Array.isArray(passed) ? passed : []).flatMap((header, index): Fault[] => {
      const known = String(header).toLowerCase();
      if (mayBeCallHeader(known) && !keyHeaders.includes(known)) return [];
      return [faultOf([...base, "pass_headers", index], known, "value")];
    });
    return [...faults, ...unsafe, ...refused];
  });
}

function faultOf(path: readonly (string | number)[], header: string, on: "key" | "value"): Fault {
  const message = `\`${formatPath(path)}\` names "${header}", which carries a credential or belongs to the connection, to framing or to forwarding`;
  return { path, on, message, fix: FIX };
}
