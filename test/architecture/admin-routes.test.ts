/** Every route of the admin listener is described in `@sluice/admin-api`, or named here. */

import { ADMIN_ROUTES } from "@sluice/admin-api";
import { describe, expect, it } from "vitest";
import { adminRoutes } from "../../core/engine/src/create-apps.ts";

/** What answers to every name and every call: no route is called while the table of them is made. */
const ANYTHING: unknown = new Proxy(() => undefined, {
  get: (_target, name) => (typeof name === "symbol" ? undefined : ANYTHING),
  apply: () => ANYTHING,
  construct: () => ANYTHING as object,
});

const IMPORT = "the command `sluice import litellm` alone sends it, with the records of a database";

/** Routes without a description, and why. */
const NOT_DESCRIBED: Readonly<Record<string, string>> = {
  "GET /openapi.json": "it is the description",
  "GET /spend/budgets/verify": "the command `sluice ledger verify` alone reads it",
  "POST /access_group/import": IMPORT,
  "POST /budget/import": IMPORT,
  "POST /customer/import": IMPORT,
  "POST /key/import": IMPORT,
  "POST /organization/import": IMPORT,
  "POST /team/import": IMPORT,
  "POST /team/member/import": IMPORT,
  "POST /user/import": IMPORT,
};

describe("the routes of the admin listener", () => {
  const own = Object.keys(
    adminRoutes(...([ANYTHING, ANYTHING, ANYTHING] as Parameters<typeof adminRoutes>)),
  );

  it("are described, or named with a reason", () => {
    expect(own.length).toBeGreaterThan(90);
    const missing = own.filter((name) => !Object.hasOwn(ADMIN_ROUTES, name)).toSorted();
    expect(missing).toEqual(Object.keys(NOT_DESCRIBED).toSorted());
  });

  it("are there, where they are described", () => {
    const absent = Object.keys(ADMIN_ROUTES).filter(
      (name) => !own.includes(name) && !name.includes(" /ui/"),
    );
    expect(absent).toEqual([]);
  });
});
