/** The screens: their places, names, and what a session must be allowed to see them. */

import type { IconName } from "../parts/icon.tsx";

/** One screen of the navigation. */
export interface Screen {
  /** The first segment of its route. */
  readonly name: string;
  readonly title: string;
  readonly icon: IconName;
  /** The action of the policy that it reads by. */
  readonly action: string;
  /** The version of the admin API that its routes came with. */
  readonly api: number;
}

/** Screens of one kind, with their heading. */
export interface ScreenGroup {
  readonly title: string;
  readonly screens: readonly Screen[];
}

/** The navigation, from top to bottom. */
export const GROUPS: readonly ScreenGroup[] = [
  {
    title: "Access",
    screens: [
      {
        name: "keys",
        title: "Keys",
        icon: "key",
        action: "key.read",
        api: 1,
      },
      { name: "teams", title: "Teams", icon: "team", action: "team.read", api: 1 },
      { name: "users", title: "Users", icon: "user", action: "user.read", api: 1 },
      { name: "customers", title: "Customers", icon: "customer", action: "customer.read", api: 1 },
      {
        name: "organizations",
        title: "Organizations",
        icon: "organization",
        action: "organization.read",
        api: 1,
      },
    ],
  },
];

/** All screens. */
export const SCREENS: readonly Screen[] = GROUPS.flatMap(({ screens }) => screens);

/** How many screens need a newer gateway than one with this version of the admin API. */
export function screensOff(version: number): number {
  return SCREENS.filter(({ api }) => api > version).length;
}
