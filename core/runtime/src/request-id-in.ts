/** Extracts the id of a request from the id of its completion. */

/** The gateway's id of a completion: `chatcmpl-` and its request's id, a UUIDv7. */
const OWN_COMPLETION = /^chatcmpl-(?=[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]+$)/;

/** The request's id from a completion id of the gateway; any other id unchanged. */
export function requestIdIn(id: string): string {
  return id.replace(OWN_COMPLETION, "");
}
