/** Digests as commands show them. */

const SHOWN_DIGEST = 12;

/** As much of a digest as tells it apart. */
export function shortOf(digest: string): string {
  return digest.slice(0, SHOWN_DIGEST);
}
