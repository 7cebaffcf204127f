/** The teams that a configuration declares, and keys as their members. */

import type { Identity } from "@sluice/contract";
import type { DeclaredTeam } from "../config/snapshot.ts";
import { memberOf } from "../resources/key-identity.ts";

/** The declared teams of one generation. */
export class DeclaredTeams {
  readonly #teams: ReadonlyMap<string, DeclaredTeam>;
  /** Keys of the store as members: made once for each identity of the key ring. */
  readonly #members = new WeakMap<Identity, Identity>();

  constructor(teams: readonly DeclaredTeam[]) {
    this.#teams = new Map(teams.map((team) => [team.id, team]));
  }

  find(id: string): DeclaredTeam | undefined {
    return this.#teams.get(id);
  }

  has(id: string): boolean {
    return this.#teams.has(id);
  }

  /** A key of one of these teams as its member; `undefined` while the team is blocked. */
  join(identity: Identity): Identity | undefined {
    const team = this.#teams.get(identity.teamId ?? "");
    if (team === undefined || team.blocked) return undefined;
    let member = this.#members.get(identity);
    if (member === undefined) {
      member = memberOf(identity, team);
      this.#members.set(identity, member);
    }
    return member;
  }
}
