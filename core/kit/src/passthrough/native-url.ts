/** Where a native endpoint lives. */

/**
 * The URL of a native endpoint. An endpoint is a path from the upstream's root: `v1/files` goes to `/v1/files` also where the
 * base URL ends in `/v1`. One that does not begin with the base URL's own path is joined to it: `files` goes to `/v1/files`.
 */
export function nativeUrl(baseUrl: string, endpoint: string, query: string): string {
  const slash = baseUrl.indexOf("/", baseUrl.indexOf("//") + 2);
  const basePath = slash < 0 ? "" : baseUrl.slice(slash + 1);
  const isFromRoot = basePath !== "" && (endpoint === basePath || endpoint.startsWith(`${basePath}/`));
  const root = isFromRoot ? baseUrl.slice(0, slash) : baseUrl;
  return `${root}/${endpoint}${query === "" ? "" : `?${query}`}`;
}
