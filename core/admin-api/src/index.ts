/** Types and JSON Schemas of the routes of the admin listener. */

export type { FromSchema, Written } from "./from-schema.ts";
export type { RouteSchema, RouteSchemas } from "./route.ts";
export {
  ADMIN_API,
  ADMIN_ROUTES,
  type AdminAnswer,
  type AdminBody,
  type AdminQuery,
  type AdminRouteName,
  type AdminRouteSchemas,
} from "./routes.ts";
export type { AnyObjectSchema, Members, ObjectSchema, Schema } from "./schema.ts";
