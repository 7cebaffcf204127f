import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ROLES_PAGE, rolesPage } from "../generate/roles.ts";

it("docs/roles.md is the page of the policy's table: node test/generate/roles.ts", () => {
  expect(readFileSync(ROLES_PAGE, "utf8")).toBe(rolesPage());
});
