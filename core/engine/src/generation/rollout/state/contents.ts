/**
 * The contents on record: what serves all keys, and what holds the files back. Transitions of the
 * rollout.
 */

import type { RolloutEdit, RolloutGeneration, RolloutState } from "./model.ts";

type State<G extends RolloutGeneration, E extends RolloutEdit<G>> = RolloutState<G, E>;

/** The contents of an edit serve all keys. */
export function runs<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: State<G, E>,
  { options }: E,
): State<G, E> {
  const { contents }: E["options"] = options;
  return {
    ...state,
    running: contents,
    pinnedBy: contents?.isPinned === true ? contents : undefined,
  };
}

/**
 * The running contents were read again, and nothing was new. The files stay the canary's while it
 * runs.
 */
export function keepPin<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: State<G, E>,
  edit: E,
): State<G, E> {
  return state.canary === undefined ? runs(state, edit) : state;
}

/**
 * The files are those of a canary. All other keys keep their contents, also when a secret changes.
 */
export function leaveFiles<G extends RolloutGeneration, E extends RolloutEdit<G>>(
  state: State<G, E>,
  { options }: E,
): State<G, E> {
  return { ...state, pinnedBy: options.contents };
}
