/** The screens: their places, names, and what a session must be allowed to see them. */

import type { IconName } from "../parts/icon.tsx";

/** One screen of the navigation. */
export interface Screen {
  /** The first segment of its route. */
  readonly name: string;
  readonly title: string;
  readonly icon: IconName;
  /** Actions of the policy that it reads by: one of them is enough. */
  readonly actions: readonly string[];
  /** The version of the admin API that its routes came with. */
  readonly api: number;
}

/** Screens of one kind, with their heading. */
export interface ScreenGroup {
  readonly title: string;
  readonly screens: readonly Screen[];
}

function screen(
  name: string,
  title: string,
  icon: IconName,
  ...actions: readonly string[]
): Screen {
  return { name, title, icon, actions, api: 1 };
}

/** The navigation, from top to bottom. */
export const GROUPS: readonly ScreenGroup[] = [
  {
    title: "Traffic",
    screens: [
      screen("overview", "Overview", "overview", "overview.read"),
      screen("requests", "Requests", "requests", "request.read"),
      screen("models", "Models", "model", "model.read", "deployment.read"),
      screen("playground", "Playground", "playground", "key.play"),
      screen("guardrails", "Guardrails", "guardrail", "guardrail.read"),
      screen("spend", "Spend", "spend", "spend.read"),
    ],
  },
  {
    title: "Access",
    screens: [
      screen("keys", "Keys", "key", "key.read"),
      screen("teams", "Teams", "team", "team.read"),
      screen("users", "Users", "user", "user.read"),
      screen("customers", "Customers", "customer", "customer.read"),
      screen("organizations", "Organizations", "organization", "organization.read"),
    ],
  },
  {
    title: "Configuration",
    screens: [
      screen("pipelines", "Pipelines", "pipeline", "config.read"),
      screen("history", "History", "history", "config.read"),
      screen("editor", "Editor", "editor", "config.read"),
      screen("system", "System", "system", "status.read", "session.read", "audit.read"),
    ],
  },
];

/** All screens. */
export const SCREENS: readonly Screen[] = GROUPS.flatMap(({ screens }) => screens);

/** How many screens need a newer gateway than one with this version of the admin API. */
export function screensOff(version: number): number {
  return SCREENS.filter(({ api }) => api > version).length;
}
