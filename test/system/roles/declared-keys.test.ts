/** Keys of the file are shown to those who administer the organization that the file names. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { type Caller, grant, organization, startTenants, type Tenants } from "./tenants.ts";

const VARIABLE = "SLUICE_TEST_KEY_OF_ACME";

let tenants: Tenants;
let ofAcme: Caller;
let ofOther: Caller;

beforeAll(async () => {
  process.env[VARIABLE] = "sk-declared-of-acme-0123456789abcdef0123456789";
  tenants = await startTenants(undefined, {
    sections: [
      `keys:\n  - { alias: declared, key: "\${env:${VARIABLE}}", organization_id: acme, rpm: 9 }`,
    ],
  });
  const callerOf = async (id: string): Promise<Caller> => {
    await tenants.organization(id);
    return tenants.caller(id, [grant("admin", organization(id))], { organizations: [id] });
  };
  ofAcme = await callerOf("acme");
  ofOther = await callerOf("other");
});
afterAll(async () => {
  delete process.env[VARIABLE];
  await tenants?.close();
});

it("alone and in both lists", async () => {
  const info = "GET /key/info?key_alias=declared";
  const { status, body } = await tenants.ask(info, undefined, ofAcme.key);
  expect([status, body]).toMatchObject([
    200,
    { info: { organization_id: "acme", rpm_limit: 9, rpm_used: 0 } },
  ]);
  expect((await tenants.ask(info, undefined, ofOther.key)).status).toBe(404);
  for (const list of ["GET /key/list", "GET /key/list?limit=100", "GET /key/list?limit=1"]) {
    const shown = async ({ key }: Caller): Promise<readonly unknown[]> => {
      const { keys } = (await tenants.ask(list, undefined, key)).body;
      return (keys as readonly Record<string, unknown>[]).map((one) => one["token_id"]);
    };
    expect([list, (await shown(ofAcme))[0]]).toEqual([list, "yaml:declared"]);
    expect(await shown(ofOther)).not.toContain("yaml:declared");
  }
  const ofOrganization = "GET /key/list?organization_id=acme&limit=100";
  const { body: page } = await tenants.ask(ofOrganization, undefined, ofAcme.key);
  expect(page["keys"]).toContainEqual(expect.objectContaining({ token_id: "yaml:declared" }));
});
