/**
 * What applications and scripts of LiteLLM rely on, and the test that holds each of it. A row whose
 * test is renamed or removed fails here.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

/** A file under `test/system`, and the title of a test in it. */
type Proof = readonly [file: string, title: string];

const APPLICATIONS = "compat/applications";
const ADMINISTRATION = "compat/administration";
const TENANTS = "compat/tenants";
const REPORTS = "compat/reports";
const ERRORS = "compat/errors";
const TOOLS = "compat/tool-routes";
const SELF = "roles/self-service";

/** Rows by their id: `A` of applications, `B` of administration. */
const ROWS: Readonly<Record<string, readonly [what: string, ...proofs: Proof[]]>> = {
  A1: [
    "litellm_metadata, mock_response, litellm_session_id, litellm_trace_id, priority, no-log, disable_fallbacks in a body",
    [APPLICATIONS, "reach the row and no upstream (stream: %s)"],
    [APPLICATIONS, "are read on native routes, where the other bytes stay"],
    ["compat/forwarded", "reach no upstream of the dialect %s through chat"],
  ],
  A2: [
    "the row of a completion's id",
    [APPLICATIONS, "are found by the completion's id, and name their owners"],
  ],
  A3: [
    "headers: timeout, retries, tags, notes, end user",
    [APPLICATIONS, "are honoured"],
    [APPLICATIONS, "set the number of retries"],
    [APPLICATIONS, "are refused where a number is none"],
  ],
  A4: [
    "the key in x-litellm-api-key",
    [APPLICATIONS, "carry the key in x-litellm-api-key, with and without Bearer"],
  ],
  A5: [
    "fallbacks with messages",
    [APPLICATIONS, "with messages are called with them"],
    [APPLICATIONS, "with messages are judged like any request"],
  ],
  A6: [
    "model: a list",
    [APPLICATIONS, "is a list of completions, each with its row"],
    [APPLICATIONS, "is answered by the fastest, also as a stream"],
  ],
  A7: [
    "paths at the root and under /v1; what does not exist names the native path",
    [APPLICATIONS, "%s is served"],
    [APPLICATIONS, "%s names the native address, to a caller with a key"],
  ],
  A8: [
    "headers of replies",
    [APPLICATIONS, "say the call, the deployment, its cost and what was tried"],
    [APPLICATIONS, "are on streams and errors too"],
  ],
  A9: [
    "a spent budget is not tried again",
    [ERRORS, "stop an SDK from trying a spent budget again"],
    [ERRORS, "keep a limit's status and its retry-after"],
  ],
  B1: [
    "keys: fields of new ones, regenerate with changes, the key in the path",
    [ADMINISTRATION, "are made from every field that LiteLLM's tools send, and read back"],
    [ADMINISTRATION, "have names of their own for models, before those of the team"],
    [ADMINISTRATION, "may have a secret that the script chooses"],
    [ADMINISTRATION, "change by key or alias, and null clears"],
    [ADMINISTRATION, "get a new secret, also with the key in the path, and with changes"],
  ],
  B2: [
    "a key reads itself, its team and its user",
    [SELF, "itself, its team and its user, and nothing else"],
  ],
  B3: [
    "teams: members_with_roles, model_aliases, organization_id, permissions, name; members; PATCH",
    [ADMINISTRATION, "are made, changed by both routes, listed and deleted"],
    [ADMINISTRATION, "gain and lose models, and never become open by it"],
    [TENANTS, "are added, also users that do not exist, changed and removed"],
    [REPORTS, "permissions of members are whether they make keys"],
  ],
  B4: [
    "users",
    [TENANTS, "are made with a key and teams, read, listed, changed and deleted"],
    [TENANTS, "are made without a key where the body says so, and get no role by it"],
  ],
  B5: [
    "customers, end users and budgets",
    [TENANTS, "are made, shared, read and deleted"],
    [TENANTS, "block: a customer that was never seen too, and it counts at once"],
    ["limits/customers", "has its own limits before the defaults, and those of its budget"],
  ],
  B6: ["organizations", [TENANTS, "are made, changed, joined, listed and deleted"]],
  B7: [
    "several administrators, viewers, keys that users make",
    [
      "roles/matrix",
      "objects are changed, refused with 403 where they may be seen, and else do not exist",
    ],
    [SELF, "within the bounds of the team, the organization and the key itself"],
  ],
  B8: [
    "reports: /global/spend/report, by team, customer and organization; owners in rows",
    [ADMINISTRATION, "has LiteLLM's shape, and equals the rows"],
    [REPORTS, "adds up rows by team, model, provider and key, and equals them"],
    [REPORTS, "knows users, tags, customers and organizations, and filters by model"],
    [APPLICATIONS, "are found by the completion's id, and name their owners"],
  ],
  B9: [
    "models: /model/new, /model_group/info, tag routing by team",
    [ERRORS, "answer 501 on both listeners: %s %s"],
    [APPLICATIONS, "models have LiteLLM's views"],
    ["requests/tag-routing", "of a key and of its team count, and no other key may name them"],
  ],
  B10: ["health routes and /routes", [APPLICATIONS, "health needs no key, and its details do"]],
  B11: [
    "metrics of what is left of budgets",
    [
      "limits/budget-metrics",
      "are of the named scopes that have budgets and requests, as of the last request",
    ],
  ],
  B12: [
    "every route of the command line, of Terraform providers and of LiteLLM's own tests",
    [TOOLS, "%s: every route serves"],
    [TOOLS, "what files hold is 501, and the answer names where it stands"],
  ],
};

/** Values of fields that are refused all the same, because nothing here would enforce them. */
const REFUSED: Readonly<Record<string, Proof>> = {
  "limits of routes, cache controls and object permissions": [
    ADMINISTRATION,
    "are refused with %s, which nothing enforces",
  ],
};

const textOf = (file: string): string =>
  readFileSync(join(import.meta.dirname, "..", `${file}.test.ts`), "utf8");

/** Whether a file has a test of a title that is not skipped. */
function isHeld([file, title]: Proof): boolean {
  const text = textOf(file);
  const at = text.indexOf(JSON.stringify(title));
  return at >= 0 && !/\.(?:skip|todo)\b[^;]*$/.test(text.slice(Math.max(0, at - 80), at));
}

describe("what is relied on", () => {
  it.each(Object.entries(ROWS))("%s: has its tests", (_id, [_what, ...proofs]) => {
    expect(proofs.filter((proof) => !isHeld(proof))).toEqual([]);
  });

  it("is counted", () => {
    const held = Object.values(ROWS).filter(([, ...proofs]) => proofs.every(isHeld));
    expect(Object.values(REFUSED).every(isHeld)).toBe(true);
    console.info(
      `${held.length} of ${Object.keys(ROWS).length} rows hold; refused values: ${Object.keys(REFUSED).join("; ")}`,
    );
    expect(held).toHaveLength(Object.keys(ROWS).length);
  });
});
