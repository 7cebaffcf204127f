import { expect, it } from "vitest";
import { withCommands } from "./command-names.ts";

it.each([
  [
    "None of the keys exists. GET /key/list lists the keys.",
    "None of the keys exists. `sluice keys list` lists the keys.",
  ],
  [
    'The team "a" does not exist. Make it with POST /team/new or `sluice teams create`.',
    'The team "a" does not exist. Make it with `sluice teams create`.',
  ],
  ["GET /playground lists the routes.", "GET /playground lists the routes."],
])("names commands in place of routes: %s", (message, said) => {
  expect(withCommands(message)).toBe(said);
});
