/**
 * This gateway, with authentication, cost and a durable spend row for each request: the shipped
 * chat pipeline, parts of it, and much of one thing.
 */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { BenchContext, Target } from "../target.ts";
import { launch, type Additions } from "./gateway/launch.ts";
import { cachingPipelines, pipelinesOf } from "./gateway/pipelines.ts";
import { insertTenants } from "./gateway/insert-tenants.ts";
import type { Checkout } from "./gateway/present.ts";
import { scaleTargets } from "./gateway/scale.ts";

/** The targets of one checkout. The first runs by default, the others when `--only` names them. */
export function sluiceTargets(checkout: Checkout): readonly Target[] {
  const shipped = join(checkout.root, "pipelines");
  const target = (name: string, about: string, prepare: Target["prepare"]): Target => ({
    name: `${name}${checkout.suffix}`,
    about: `${checkout.suffix === "" ? "this gateway" : `the gateway of ${checkout.suffix.slice(1)}`}, ${about}`,
    isNode: true,
    isOnRequest: name !== "sluice",
    prepare,
  });
  return [
    target("sluice", "the shipped pipelines", (context) => launch(checkout, context)),
    target("sluice-few", "chat with the steps auth, cost and provider alone", (context) =>
      launch(checkout, context, {
        pipelines: pipelinesOf(shipped, context.directory, ["auth", "cost", "provider"]),
      }),
    ),
    target(
      "sluice-guardrails",
      "the shipped pipelines, three guardrails on by default",
      (context) => launch(checkout, context, GUARDED),
    ),
    target(
      "sluice-limits",
      "the shipped pipelines, a key with rpm, tpm, slots and a budget",
      (context) => launchLimited(checkout, context),
    ),
    target(
      "sluice-all-scopes",
      "sluice-limits, and the same limits of an organization, a team, a member, a user and a customer",
      (context) => launchScoped(checkout, context),
    ),
    // No two prompts are alike: each request is a miss, and stored.
    target(
      "sluice-limits-cache",
      "sluice-limits, and the cache keeps the reply of every request",
      (context) =>
        launchLimited(checkout, context, {
          pipelines: cachingPipelines(shipped, context.directory),
        }),
    ),
    target(
      "sluice-all",
      "every shipped step at work: limits, a budget, the cache and three guardrails",
      (context) =>
        launchLimited(checkout, context, {
          ...GUARDED,
          pipelines: cachingPipelines(shipped, context.directory),
        }),
    ),
    ...scaleTargets(checkout).map(([name, about, prepare]) => target(name, about, prepare)),
  ];
}

const GUARDED: Additions = {
  plugins: ["guardrail-pii", "guardrail-secrets", "guardrail-words"],
  sections: `guardrails:
  pii: { use: pii, default_on: true }
  secrets: { use: secrets, default_on: true }
  words: { use: words, default_on: true, lists: [{ name: banned, words: [thermite, "Wile E. Coyote", project-x] }] }
`,
};

const LIMITED_KEY = `keys:
  - alias: limited
    key: "\${env:LIMITED_KEY}"
    rpm: 1000000000
    tpm: 1000000000
    max_parallel: 1000000
    max_budget: 8000000
    budget_duration: 1mo
`;

/** The limited key in a team, and the records of all that it belongs to. */
async function launchScoped(checkout: Checkout, context: BenchContext) {
  const launched = await launchLimited(checkout, context, {
    keys: "    team_id: team\n    user_id: user\n",
    sections: "customers: { headers: [x-bench-customer] }\n",
  });
  if ("skip" in launched) return launched;
  return {
    ...launched,
    headers: { ...launched.headers, "x-bench-customer": "customer" },
    prepared: () => insertTenants(join(context.directory, "data")),
  };
}

async function launchLimited(
  checkout: Checkout,
  context: BenchContext,
  additions: Additions & { readonly keys?: string } = {},
) {
  const { keys = "", ...others } = additions;
  const launched = await launch(checkout, context, {
    ...others,
    sections: `${additions.sections ?? ""}${LIMITED_KEY}${keys}`,
  });
  if ("skip" in launched) return launched;
  const key = `sk-bench-limited-${randomBytes(24).toString("hex")}`;
  return {
    ...launched,
    env: { ...launched.env, LIMITED_KEY: key },
    headers: { authorization: `Bearer ${key}` },
  };
}
