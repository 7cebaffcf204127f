/**
 * The shrink guard: edits that take so much away that they are more likely a cut-off file or a slip
 * than a wish.
 */

import type { StepDefinition } from "@sluice/contract";
import type { Finding } from "../../config/finding.ts";
import type { PipelineSettings, Position, Snapshot, StepSettings } from "../../config/snapshot.ts";
import { isAlways } from "../../pipeline/steps/uses.ts";

/** Words that a step is called or `provides`, and what a route without such a step lacks. */
const GUARDS: Readonly<Record<string, string>> = {
  auth: "authentication",
  identity: "authentication",
  limits: "limits",
  budget: "budgets",
  budgets: "budgets",
  guardrails: "guardrails",
};

/** Characters of a digest that name a candidate beyond doubt. */
export const SHOWN_DIGEST = 12;

const SHOWN_NAMES = 5;

type StepDefinitions = ReadonlyMap<string, StepDefinition<never>>;

interface Loss {
  readonly at: Position;
  readonly message: string;
}

/**
 * What a candidate takes away: the end mark of a file, the authentication, limits, budgets or
 * guardrails of a route that stays, the own pipeline of such a route, the credential of a provider
 * that stays, more than half of the models, declared keys or teams, providers or pipelines. Each
 * finding names the candidate's digest, with
 * which it can be forced.
 */
export function shrinkage(
  live: Snapshot,
  candidate: Snapshot,
  definitions: StepDefinitions,
): Finding[] {
  const end = candidate.files[0]?.end ?? { file: "", line: 1, column: 1 };
  const losses: Loss[] = [
    ...lostEndMarks(live, candidate),
    ...lostGuards(live, candidate, definitions),
    ...lostPipelineFiles(live, candidate),
    ...lostCredentials(live, candidate),
    ...lostEntries(
      "models",
      live.models.map(({ id }) => id),
      candidate.models.map(({ id }) => id),
      candidate.models[0]?.at ?? end,
    ),
    ...lostEntries(
      "declared keys",
      live.keys.map(({ alias }) => alias),
      candidate.keys.map(({ alias }) => alias),
      candidate.keys[0]?.at ?? end,
    ),
    ...lostEntries(
      "declared teams",
      live.teams.map(({ id }) => id),
      candidate.teams.map(({ id }) => id),
      candidate.teams[0]?.at ?? end,
    ),
    ...(["organization", "user"] as const).flatMap((kind) =>
      lostEntries(
        `declared ${kind}s`,
        live.tenants[kind].map(({ id }) => id),
        candidate.tenants[kind].map(({ id }) => id),
        candidate.tenants[kind][0]?.at ?? end,
      ),
    ),
    ...lostEntries(
      "providers",
      live.providers.map(({ name }) => name),
      candidate.providers.map(({ name }) => name),
      candidate.providers[0]?.at ?? end,
    ),
    ...lostEntries(
      "pipelines",
      live.pipelines.map(({ name }) => name),
      candidate.pipelines.map(({ name }) => name),
      candidate.pipelines[0]?.at ?? end,
    ),
  ];
  const fix = `Put back what is missing; or, if it is meant, apply it with \`sluice reload --force ${candidate.digest.slice(0, SHOWN_DIGEST)}\`.`;
  return losses.map((loss) => ({ ...loss, fix }));
}

/**
 * Whether `given` names the candidate: its digest or that of its contents, or at least as much of
 * it as findings show.
 */
export function isForced(
  { digest, contents }: Pick<Snapshot, "digest" | "contents">,
  given: string | undefined,
): boolean {
  return (
    given !== undefined &&
    given.length >= SHOWN_DIGEST &&
    [digest, contents].some((known) => known.startsWith(given.toLowerCase()))
  );
}

function lostEndMarks(live: Snapshot, candidate: Snapshot): Loss[] {
  const marked = new Set(live.files.filter(({ hasEndMark }) => hasEndMark).map(({ path }) => path));
  return candidate.files
    .filter(({ path, hasEndMark }) => marked.has(path) && !hasEndMark)
    .map(({ end }) => ({
      at: end,
      message: "The file ended with `end_of_config: true` and no longer does: it may be cut off.",
    }));
}

function lostGuards(live: Snapshot, candidate: Snapshot, definitions: StepDefinitions): Loss[] {
  const before = new Map<string, Guards>(
    live.pipelines.flatMap((pipeline) => {
      const guards = guardsOf(pipeline, definitions);
      return pipeline.routes.map(({ method, path }) => [`${method} ${path}`, guards] as const);
    }),
  );
  return candidate.pipelines.flatMap((pipeline) => {
    const guards = guardsOf(pipeline, definitions);
    const routesByLoss = new Map<string, string[]>();
    for (const { method, path } of pipeline.routes) {
      const route = `${method} ${path}`;
      const had = before.get(route);
      const losses = [
        ...[...(had?.any ?? [])].filter((guard) => !guards.any.has(guard)),
        ...[...(had?.always ?? [])]
          .filter((guard) => guards.any.has(guard) && !guards.always.has(guard))
          .map(
            (guard) =>
              `${guard} for some requests: the step would have a \`when\` or an \`active\``,
          ),
      ];
      for (const loss of losses) routesByLoss.set(loss, [...(routesByLoss.get(loss) ?? []), route]);
    }
    const at = pipeline.steps[0]?.at ?? pipeline.at;
    return [...routesByLoss].map(([loss, routes]) => ({
      at,
      message: `${listed(routes)} would lose ${loss}.`,
    }));
  });
}

/** The guards of a route: those of some requests, and those of every request. */
interface Guards {
  readonly any: ReadonlySet<string>;
  readonly always: ReadonlySet<string>;
}

function guardsOf({ steps }: PipelineSettings, definitions: StepDefinitions): Guards {
  const wordsOf = (list: readonly StepSettings[]): ReadonlySet<string> =>
    new Set(
      list.flatMap(({ use }) => guardWords(use, definitions)).map((word) => GUARDS[word] ?? word),
    );
  // In shadow a step refuses no request.
  return {
    any: wordsOf(steps.filter(({ isShadow }) => isShadow !== true)),
    always: wordsOf(steps.filter(isAlways)),
  };
}

/** Whether a step guards its route, by its name or by what it `provides`. */
export function isGuarding(use: string, definitions: StepDefinitions): boolean {
  return guardWords(use, definitions).length > 0;
}

function guardWords(use: string, definitions: StepDefinitions): readonly string[] {
  return [use, ...(definitions.get(use)?.order?.provides ?? [])].filter((word) =>
    Object.hasOwn(GUARDS, word),
  );
}

/** A folder of pipelines that is gone for a moment must not put the shipped ones in their place. */
function lostPipelineFiles(live: Snapshot, candidate: Snapshot): Loss[] {
  const shipped = new Map<string, Position>(
    candidate.pipelines
      .filter(({ isShipped }) => isShipped)
      .flatMap(({ routes, at }) =>
        routes.map(({ method, path }) => [`${method} ${path}`, at] as const),
      ),
  );
  const routes = live.pipelines
    .filter(({ isShipped }) => isShipped !== true)
    .flatMap((pipeline) => pipeline.routes.map(({ method, path }) => `${method} ${path}`))
    .filter((route) => shipped.has(route));
  const [first] = routes;
  const at = first === undefined ? undefined : shipped.get(first);
  if (at === undefined) return [];
  const message = `${listed(routes)} would be served by a shipped pipeline, in place of the file that serves it now.`;
  return [{ at, message }];
}

/** A secret's file that is gone for a moment must not switch off a provider that works. */
function lostCredentials(live: Snapshot, candidate: Snapshot): Loss[] {
  const working = new Set(
    live.providers.filter(({ missing }) => missing.length === 0).map(({ name }) => name),
  );
  return candidate.providers
    .filter(({ name, missing }) => working.has(name) && missing.length > 0)
    .map(({ name, missing, at }) => ({
      at,
      message: `The provider ${name} works and would become unavailable: ${missing.join(", ")} does not resolve.`,
    }));
}

function lostEntries(
  what: string,
  before: readonly string[],
  after: readonly string[],
  at: Position,
): Loss[] {
  const gone = before.filter((name) => !after.includes(name));
  // Other names for as many entries are a renaming.
  if (gone.length * 2 <= before.length || after.length >= before.length) return [];
  return [
    { at, message: `${gone.length} of ${before.length} ${what} would vanish: ${listed(gone)}.` },
  ];
}

function listed(names: readonly string[]): string {
  const more = names.length - SHOWN_NAMES;
  return more > 0 ? `${names.slice(0, SHOWN_NAMES).join(", ")} and ${more} more` : names.join(", ");
}
