/** Where the views of the screens are. Each is a file of its own, loaded when it is opened. */

import type { ComponentType } from "preact";
import type { ScreenProps } from "./screen-props.ts";

/** The view of a screen. */
export type ScreenView = ComponentType<ScreenProps>;

/** Loads views, by the names of the screens. */
const VIEWS: Readonly<Record<string, () => Promise<{ readonly default: ScreenView }>>> = {
  overview: () => import("../screens/overview/screen-overview.tsx"),
  requests: () => import("../screens/requests/screen-requests.tsx"),
  playground: () => import("../screens/playground/screen-playground.tsx"),
  guardrails: () => import("../screens/guardrails/screen-guardrails.tsx"),
  spend: () => import("../screens/spend/screen-spend.tsx"),
  models: () => import("../screens/models/screen-models.tsx"),
  pipelines: () => import("../screens/pipelines/screen-pipelines.tsx"),
  history: () => import("../screens/history/screen-history.tsx"),
  editor: () => import("../screens/editor/screen-editor.tsx"),
  system: () => import("../screens/system/screen-system.tsx"),
  keys: () => import("../screens/keys/screen-keys.tsx"),
  teams: () => import("../screens/teams/screen-teams.tsx"),
  users: () => import("../screens/users/screen-users.tsx"),
  customers: () => import("../screens/customers/screen-customers.tsx"),
  organizations: () => import("../screens/organizations/screen-organizations.tsx"),
};

const loaded = new Map<string, ScreenView>();

/** The view of a screen, once it is loaded. */
export function viewOf(name: string): ScreenView | undefined {
  return loaded.get(name);
}

/** Loads the view of a screen. Rejects when its file cannot be loaded, or there is none. */
export async function loadView(name: string): Promise<ScreenView> {
  const load = VIEWS[name];
  if (load === undefined) throw new Error(`No view is known for the screen ${name}.`);
  const { default: View } = await load();
  loaded.set(name, View);
  return View;
}
