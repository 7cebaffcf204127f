/** Writes docs/roles.md from the table of the policy: `node test/generate/roles.ts`. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { POLICY, type PolicyRule } from "@sluice/contract";

/** Where the page is. */
export const ROLES_PAGE = join(import.meta.dirname, "../../docs/roles.md");

const INTRODUCTION = `# Roles

<!-- Made by \`node test/generate/roles.ts\` from core/contract/src/tenants/policy.ts. Do not edit. -->

Every route of the admin listener names one action of the table below. An action that the table does not allow is refused.

- A user has roles at places: the whole gateway, an organization or a team. The roles are \`viewer\`, \`keys\`, \`operator\` and \`admin\`; each includes
  those before it.
- A role at an organization counts for its teams, and for their keys. A role at the whole counts everywhere.
- An \`admin\` among the members of a team has the role \`keys\` at that team.
- The master key is the administrator of the whole. The key in \`server.admin.read_key\` has only the actions that the table marks.
- An object that the caller may not see is answered as one that does not exist: 404. An object that the caller sees and may not change: 403.

| Column | Meaning |
|---|---|
| Role | the weakest role that may do it |
| Where | *object*: at the whole, or at an organization or team of the object. *above*: at a place that contains the object, and not at the object itself. *whole*: at the whole gateway alone. *each*: at every place of the object |
| Owner | what needs no role: a user for the own record and keys (with a key that no other user has issued), a key for its own data |
`;

/** The text of docs/roles.md. */
export function rolesPage(): string {
  const head = ["Action", "What it does", "Role", "Where", "Owner", "Read key"];
  const body = Object.entries<PolicyRule>(POLICY).map(
    ([action, { about, role, reach, owners, isAtEach, readKey }]) => [
      `\`${action}\``,
      about,
      `\`${role}\``,
      isAtEach === true ? "each" : reach === "any" ? "object" : reach,
      owners.join(", "),
      readKey === true ? "yes" : "",
    ],
  );
  const lines = [head, head.map(() => "---"), ...body].map((cells) => `| ${cells.join(" | ")} |`);
  return `${INTRODUCTION}\n${lines.join("\n")}\n`;
}

if (import.meta.main) writeFileSync(ROLES_PAGE, rolesPage());
