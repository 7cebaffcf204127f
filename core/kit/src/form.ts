/** Bodies as `multipart/form-data`, for upstreams without JSON. */

export { type FormFile as File, formBody as body } from "./multipart.ts";
