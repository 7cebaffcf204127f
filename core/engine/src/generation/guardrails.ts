/**
 * The guardrail instances of a generation, and the test that each must pass before anything is
 * served.
 */

import { createHmac, randomBytes } from "node:crypto";
import { GuardrailRunner, judgesSample } from "@sluice/runtime/guard";
import type { GuardrailCatalog, GuardrailInstance, Host } from "@sluice/contract";
import type { Finding } from "../config/finding.ts";
import type { GuardrailUseSettings, Snapshot } from "../config/snapshot.ts";
import type { Definitions } from "../registry/definitions.ts";
import { withPlace } from "../registry/fault-place.ts";
import type { HostFactory } from "./parts.ts";
import { BuildError } from "./build-error.ts";
import { packOptions } from "./isolation/message.ts";
import { missingPart } from "./isolation/missing-part.ts";
import { IsolatedGuardrail } from "./isolation/isolated-guardrail.ts";

/**
 * Characters of a text that is judged whole in the thread that serves: the slowest of our
 * guardrails blocks all requests for about 50 ms with as many.
 */
const MAX_WHOLE_TEXT = 131_072;

/** Makes every guardrail. Throws a BuildError for one that cannot be made or has no reach. */
export function createGuardrails(
  snapshot: Snapshot,
  definitions: Definitions,
  hostFor: HostFactory,
): GuardrailCatalog {
  const instances = new Map<string, GuardrailInstance>();
  for (const use of snapshot.guardrails)
    instances.set(use.name, createOne(use, definitions, hostFor));
  const list = Object.freeze([...instances.values()]);
  return { find: (name) => instances.get(name), list: () => list };
}

function createOne(
  use: GuardrailUseSettings,
  definitions: Definitions,
  hostFor: HostFactory,
): GuardrailInstance {
  const definition = definitions.guardrails.get(use.use);
  const fault = (what: string, fix = "Correct its options, or the plugin."): BuildError =>
    new BuildError([{ at: use.at, message: `The guardrail ${use.name} ${what}.`, fix }]);
  if (definition === undefined)
    throw fault(`names the plugin ${use.use}, which no package provides`);
  const scope = use.settings.scope ?? definition.scope;
  const settings = Object.freeze({ ...use.settings, ...(scope === undefined ? {} : { scope }) });
  const host = hostFor(`${use.use}/${use.name}`);
  if (settings.isolation === "worker") {
    const url = definitions.urlOf("guardrail", use.use);
    if (url === undefined) throw fault("comes from no module that a worker could import");
    const guardrail = new IsolatedGuardrail({
      use,
      url,
      definition: definitions.ownName("guardrail", use.use),
      host,
      fault,
    });
    return Object.freeze({
      name: use.name,
      use: use.use,
      guardrail,
      settings,
      isRemote: definition.isRemote === true,
      identity: identityOf(use),
    });
  }
  let guardrail;
  try {
    guardrail = definition.create(use.options as never, host);
  } catch (error) {
    throw fault(`could not be made: ${withPlace(error)}`);
  }
  const missing = missingPart(guardrail);
  if (missing !== undefined) throw fault(missing);
  // A service does the work elsewhere, and is asked about a text once.
  const isRemote = definition.isRemote === true;
  const worksHere = !isRemote;
  const isWhole = guardrail.reach === Infinity;
  const maxText = settings.maxText ?? (worksHere && isWhole ? MAX_WHOLE_TEXT : undefined);
  const bounded = maxText === undefined ? settings : Object.freeze({ ...settings, maxText });
  return Object.freeze({
    name: use.name,
    use: use.use,
    guardrail,
    settings: bounded,
    isSliced: worksHere && !isWhole,
    isRemote,
    identity: identityOf(use),
  });
}

/** Hides the options: names of shared values are shown to administrators. */
const SALT = randomBytes(32);

/** The key of a guardrail's circuit breaker, which unrelated edits do not change. */
function identityOf({ name, use, options, settings }: GuardrailUseSettings): string {
  const identity = JSON.stringify([name, use, packOptions(options), settings.isolation]);
  return `${name}:${createHmac("sha256", SALT).update(identity).digest("hex").slice(0, 16)}`;
}

/**
 * Findings for every guardrail that does not deny its own sample: it is configured and would guard
 * nothing.
 */
export async function testGuardrails(
  snapshot: Snapshot,
  catalog: GuardrailCatalog,
  definitions: Definitions,
  host: Pick<Host, "clock" | "log">,
): Promise<readonly Finding[]> {
  const findings = await Promise.all(
    snapshot.guardrails.map(async (use): Promise<Finding[]> => {
      const instance = catalog.find(use.name);
      const definition = definitions.guardrails.get(use.use);
      if (instance === undefined || definition === undefined) return [];
      const fault = await judgesSample(new GuardrailRunner(instance, host), () =>
        definition.sample(use.options as never),
      );
      if (fault === undefined) return [];
      const { what, isFailure } = fault;
      if (isFailure && definition.isRemote === true) {
        // Its service is away. That is no fault of the configuration, and a gateway must start:
        // what it judges fails until then.
        host.log.warn("a guardrail could not be tested", {
          guardrail: use.name,
          what,
          on_error: instance.settings.onError,
        });
        return [];
      }
      const fix =
        "Correct its options: a guardrail that lets its own sample through guards nothing.";
      return [{ at: use.at, message: `The guardrail ${use.name} ${what}.`, fix }];
    }),
  );
  return findings.flat();
}
