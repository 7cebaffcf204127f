/** Where the code of the command is. */

/**
 * The prefix of the URLs of this package's modules: the watch of a start takes none of them for a
 * plugin.
 */
export const OWN_URLS: readonly string[] = [new URL("../", import.meta.url).href];
