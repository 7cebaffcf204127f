/** Models: what clients may name, and what stands behind each name. */

import type { AdminAnswer } from "@sluice/admin-api";

/** A page of models. */
export type ModelPage = AdminAnswer<"GET /models">;

/** A model. */
export type Model = ModelPage["models"][number];

/** A target of a model. */
export type ModelTarget = Model["targets"][number];
