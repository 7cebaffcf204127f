import { describe, expect, expectTypeOf, it } from "vitest";
import { ADMIN_ROUTES, type AdminAnswer, type AdminBody, type AdminQuery } from "./routes.ts";

// The compiler proves these: `npm run typecheck` fails where one does not hold.
describe("the types of a route", () => {
  it("are those of its body, its query and its answer", () => {
    expectTypeOf<AdminBody<"POST /key/block">>().toEqualTypeOf<{ readonly key: string }>();
    expectTypeOf<AdminBody<"GET /key/info">>().toEqualTypeOf<undefined>();
    expectTypeOf<AdminQuery<"GET /requests">["limit"]>().toEqualTypeOf<number | undefined>();
    expectTypeOf<AdminAnswer<"POST /key/delete">>().toEqualTypeOf<{
      readonly deleted_keys: readonly string[];
    }>();
    expectTypeOf<AdminAnswer<"GET /requests/:id">["stream"]>().toEqualTypeOf<boolean | null>();
  });

  it("lets a body clear a field, and leave it out", () => {
    type Update = AdminBody<"POST /key/update">;
    expectTypeOf<Update["rpm"]>().toEqualTypeOf<number | null | undefined>();
    expectTypeOf<Update["spend_scope"]>().toEqualTypeOf<
      "key" | "user" | "team" | null | undefined
    >();
  });
});

describe("the routes", () => {
  it("have a line of their own, and a body only where the method has one", () => {
    const routes = Object.entries(ADMIN_ROUTES);
    expect(routes.length).toBeGreaterThan(40);
    expect(
      routes.filter(([name, route]) => /^(?:GET|DELETE) /.test(name) && "body" in route),
    ).toEqual([]);
    expect(routes.filter(([, { about }]) => !/^[A-Z][^.]+$/.test(about))).toEqual([]);
  });
});
