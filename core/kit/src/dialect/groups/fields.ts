/** The fields of a request other than chat. */

export { type RequestFields, readFields as read } from "../request/request-fields.ts";
