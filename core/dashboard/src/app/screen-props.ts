/** What every screen gets. */

/** The segments behind the name of the screen. */
export interface ScreenProps {
  readonly path: readonly string[];
}
