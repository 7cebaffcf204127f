/** The pipelines that serve: each as nested steps, and what protects the routes. */

import type { Coverage, Pipeline, PipelineList } from "../../api/config.ts";
import type { ScreenProps } from "../../app/screen-props.ts";
import { useRead } from "../../app/live.ts";
import { href, useFilters } from "../../app/route.ts";
import { SelectField } from "../../parts/field.tsx";
import { duration } from "../../parts/format.ts";
import { Mark } from "../../parts/marks.tsx";
import { Facts, Head, Panel } from "../../parts/page.tsx";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { Place } from "../../records/place.tsx";
import { CoverageTable } from "./coverage-table.tsx";
import { Picture } from "./picture.tsx";

/** Figures change with the traffic. */
const LIVE = { isLive: true, everyMs: 5_000 };

const SHOWN_ROUTES = 4;

/** The screen. */
export default function PipelinesScreen(_props: ScreenProps) {
  const { data, error, refetch } = useRead<PipelineList>("/pipelines", {}, LIVE);
  const coverage = useRead<Coverage>("/config/coverage");
  const [{ pipeline: asked }, setFilters] = useFilters(["pipeline"]);
  const pipelines = data?.pipelines ?? [];
  const shown = pipelines.find(({ pipeline }) => pipeline === asked) ?? firstOf(pipelines);
  // The height of the picture is unknown before its answer: what stands below it would move.
  const isPlaced = data !== undefined || error !== null;
  return (
    <>
      <Head
        title="Pipelines"
        lead="What a request passes, outermost first. Each step leads to its line."
        marks={data?.generation != null && <Mark>generation {data.generation}</Mark>}
        actions={
          <a class="button" href={href(["editor"])}>
            Edit
          </a>
        }
      />
      {data === undefined ? (
        error ? (
          <Failure error={error} onRetry={() => void refetch()} />
        ) : (
          <Loading lines={10} />
        )
      ) : shown === undefined ? (
        <Empty icon="pipeline" title="No configuration serves yet" />
      ) : (
        <Panel
          title={`Pipeline ${shown.pipeline}`}
          end={
            <SelectField
              label="Pipeline"
              value={shown.pipeline}
              choices={pipelines.map(({ pipeline }) => [pipeline, pipeline] as const)}
              onInput={(pipeline) => setFilters({ pipeline })}
            />
          }
        >
          <div class="stack">
            <PipelineFacts pipeline={shown} />
            <Picture steps={shown.steps} />
          </div>
        </Panel>
      )}
      {isPlaced && (
        <CoverageTable
          rows={coverage.data?.routes}
          error={coverage.error}
          onRetry={() => void coverage.refetch()}
        />
      )}
    </>
  );
}

/** Chat is what most clients use. */
function firstOf(pipelines: readonly Pipeline[]): Pipeline | undefined {
  return pipelines.find(({ operation }) => operation === "chat") ?? pipelines[0];
}

/** The first routes, and the others on request. */
function Routes({ routes }: Pick<Pipeline, "routes">) {
  const [first, others] = [routes.slice(0, SHOWN_ROUTES), routes.slice(SHOWN_ROUTES)];
  return (
    <>
      <RouteNames routes={first} />
      {others.length > 0 && (
        <details>
          <summary>{others.length} more</summary>
          <RouteNames routes={others} />
        </details>
      )}
    </>
  );
}

function RouteNames({ routes }: Pick<Pipeline, "routes">) {
  return (
    <ul>
      {routes.map(({ route, face }) => (
        <li key={route}>
          <code>{route}</code>
          {face !== null && <span class="muted"> as {face}</span>}
        </li>
      ))}
    </ul>
  );
}

function PipelineFacts({ pipeline }: { readonly pipeline: Pipeline }) {
  const { routes, operation, deadline_ms: deadline, tests, file, line } = pipeline;
  return (
    <Facts
      rows={[
        ["Routes", <Routes key="routes" routes={routes} />],
        ["Operation", operation],
        ["Deadline", duration(deadline)],
        ["Tests", tests.length === 0 ? <Mark tone="warn">none</Mark> : String(tests.length)],
        [
          "File",
          pipeline.is_shipped ? (
            <span key="file">{file} (came with the gateway)</span>
          ) : (
            <Place key="file" file={file} line={line} />
          ),
        ],
      ]}
    />
  );
}
