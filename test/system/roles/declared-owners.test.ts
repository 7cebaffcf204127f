/** Admin keys whose users and owners the file declares: at the admin listener as at the public one. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { configPost } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { startTenants, type Tenants } from "./tenants.ts";

const FILE = [
  "organizations:\n  - { organization_id: acme }",
  "teams:\n  - { team_id: declared, organization_id: acme, members: [{ user_id: member }] }",
  "users:\n  - { user_id: member }\n  - { user_id: ann, roles: [{ role: admin, at: organization, organization_id: acme }] }",
] as const;

const ROLES = [{ role: "admin", at: "organization", organization_id: "acme" }];

let tenants: Tenants;
/** Admin keys of the store: of a user of the store, and of one of the file. */
let ofStore: string;
let ofFile: string;

beforeAll(async () => {
  tenants = await startTenants(undefined, { sections: FILE });
  const user = { user_id: "store", organizations: ["acme"], roles: ROLES };
  const made = await tenants.ask("POST /user/new", user);
  if (made.status !== 200) throw new Error(`the user was not made: ${made.text}`);
  ofStore = await keyOf({ user_id: "store", organization_id: "acme" });
  ofFile = await keyOf({ user_id: "ann" });
});
afterAll(() => tenants?.close());

async function keyOf(owners: object): Promise<string> {
  const { status, text, body } = await tenants.ask("POST /key/generate", {
    ...owners,
    admin: true,
  });
  if (status !== 200) throw new Error(`the key was not made: ${text}`);
  return String(body["key"]);
}

/** Writes the file, and waits until it serves. The watch may apply the file first. */
async function declare(sections: readonly string[]): Promise<void> {
  const { workspace, gateway } = tenants;
  workspace.write(workspace.config({ sections }));
  await eventually("the edit", async () => {
    const { outcome } = await configPost(gateway, "reload");
    return ["applied", "unchanged"].includes(String(outcome));
  });
}

const statusOf = async (key: string): Promise<number> =>
  (await tenants.ask("GET /key/list", undefined, key)).status;

it("administer what the file declares", async () => {
  expect(await statusOf(ofStore)).toBe(200);
  expect(await statusOf(ofFile)).toBe(200);
});

it("open nothing while the file blocks the organization or the user", async () => {
  const blockedUser =
    "users:\n  - { user_id: member }\n  - { user_id: ann, blocked: true, roles: [{ role: admin, at: organization, organization_id: acme }] }";
  await declare([FILE[0], FILE[1], blockedUser]);
  expect([await statusOf(ofStore), await statusOf(ofFile)]).toEqual([200, 401]);
  await declare(["organizations:\n  - { organization_id: acme, blocked: true }", FILE[1], FILE[2]]);
  expect([await statusOf(ofStore), await statusOf(ofFile)]).toEqual([401, 200]);
  await declare(FILE);
  expect([await statusOf(ofStore), await statusOf(ofFile)]).toEqual([200, 200]);
});
