/** The address of a native endpoint. */

/** A segment that names a version of an API: `v1`, `v1beta`, `v2`. */
const VERSION = /^v\d+[a-z0-9]*$/;

/**
 * The path of a base URL's native root, without slashes at its ends: the base URL's own without its
 * final version. The root of `https://api.groq.com/openai/v1` is `openai`.
 */
export function nativeRoot(baseUrl: string): string {
  const path = basePathOf(baseUrl);
  const slash = path.lastIndexOf("/");
  if (!VERSION.test(path.slice(slash + 1))) return path;
  return slash < 0 ? "" : path.slice(0, slash);
}

/**
 * The URL of a native endpoint. An endpoint that begins with the base URL's own path is relative to
 * the address: `v1/files` goes to `/v1/files` also where the base URL ends in `/v1`. One that
 * begins with a version, or with one of `prefixes`, is relative to the native root, so that no
 * version occurs twice: `v2/rerank` goes to `/v2/rerank`. Any other is joined to the base URL:
 * `files` goes to `/v1/files`.
 */
export function nativeUrl(
  baseUrl: string,
  endpoint: string,
  query: string,
  prefixes: readonly string[] = [],
): string {
  const slash = baseUrl.indexOf("/", baseUrl.indexOf("//") + 2);
  const basePath = basePathOf(baseUrl);
  const root = nativeRoot(baseUrl);
  const [first = ""] = endpoint.split("/", 1);
  const isFromAddress =
    basePath !== "" && (endpoint === basePath || endpoint.startsWith(`${basePath}/`));
  const isFromRoot = root !== basePath && (VERSION.test(first) || prefixes.includes(first));
  const origin = slash < 0 ? baseUrl : baseUrl.slice(0, slash);
  const base = isFromAddress
    ? origin
    : isFromRoot
      ? root === ""
        ? origin
        : `${origin}/${root}`
      : baseUrl;
  return `${base}/${endpoint}${query === "" ? "" : `?${query}`}`;
}

function basePathOf(baseUrl: string): string {
  const slash = baseUrl.indexOf("/", baseUrl.indexOf("//") + 2);
  return slash < 0 ? "" : baseUrl.slice(slash + 1);
}
