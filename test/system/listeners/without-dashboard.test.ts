/** A gateway without the package of the dashboard. */

import { expect, it } from "vitest";
import { startOwnProcess } from "../support/gateway-process.ts";
import { askFor } from "../support/listeners/dashboard-files.ts";

/** As after `npm ci --omit=optional`: the package cannot be found. */
const WITHOUT = `import { registerHooks } from "node:module";
registerHooks({
  resolve(specifier, context, next) {
    return next(specifier === "@sluice/dashboard" ? "@sluice/not-installed" : specifier, context);
  },
});`;

it("check 23: the gateway serves, and /ui/ says what to do", async () => {
  const hook = `--import=data:text/javascript,${encodeURIComponent(WITHOUT)}`;
  const gateway = await startOwnProcess({}, { NODE_OPTIONS: hook });
  const page = await askFor(`${gateway.adminUrl}/ui/`);
  expect([page.status, page.headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"]);
  expect(page.body.toString()).toContain("npm install @sluice/dashboard");
  expect(page.body.toString().trim().split("\n").length).toBeLessThanOrEqual(10);
  expect((await askFor(`${gateway.publicUrl}/health/ready`)).status).toBe(200);
  await gateway.dispose();
});
