/** Answers about the configuration. */

import type { AdminAnswer, AdminBody } from "@sluice/admin-api";

/** `GET /config/status` */
export type ConfigStatus = AdminAnswer<"GET /config/status">;

/** A canary that runs. */
export type Canary = NonNullable<ConfigStatus["canary"]>;

/** A tally of one side of a canary. */
export type Side = Canary["others"];

/** The result of an edit, as the history keeps it. */
export type Attempt = NonNullable<ConfigStatus["last_attempt"]>;

/** The answer of an edit. */
export type EditResult = AdminAnswer<"POST /config/reload">;

/** `POST /config/validate` */
export type Validation = AdminAnswer<"POST /config/validate">;

/** A finding of a check. */
export type Finding = Validation["findings"][number];

/** What an edit changes. */
export type Impact = Pick<
  AdminAnswer<"POST /config/diff">,
  "risk" | "danger" | "caution" | "safe" | "effects" | "replay"
>;

/** One effect of an edit. */
export type Effect = Impact["effects"][number];

/** How much an effect of an edit matters. */
export type Risk = Impact["risk"];

/** `GET /config/history` */
export type ConfigHistory = AdminAnswer<"GET /config/history">;

/** A generation of the history. */
export type Generation = ConfigHistory["generations"][number];

/** Who made an edit, and how that is known. */
export type Author = NonNullable<Generation["author"]>;

/** `GET /config/files` */
export type ConfigFiles = AdminAnswer<"GET /config/files">;

/** `PUT /config/files` */
export type WriteResult = AdminAnswer<"PUT /config/files">;

/** `POST /config/complete` */
export type Completed = AdminAnswer<"POST /config/complete">;

/** `GET /pipelines` */
export type PipelineList = AdminAnswer<"GET /pipelines">;

/** A pipeline, and one of its steps. */
export type Pipeline = PipelineList["pipelines"][number];
export type PipelineStep = Pipeline["steps"][number];

/** `GET /config/coverage` */
export type Coverage = AdminAnswer<"GET /config/coverage">;

/** `POST /config/test` */
export type TestResult = AdminAnswer<"POST /config/test">;

/** Texts by the names of files. */
export type Texts = ConfigFiles["files"];

/** What a canary is asked with. */
export type CanaryPlan = NonNullable<AdminBody<"POST /config/reload">["canary"]>;
