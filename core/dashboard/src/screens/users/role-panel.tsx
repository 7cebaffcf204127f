/** The roles of a user, each at its place. */

import { useState } from "preact/hooks";
import { get, post } from "../../api/client.ts";
import type { RoleView, UserRow } from "../../api/records.ts";
import { useRefresh } from "../../app/live.ts";
import { useMayOn } from "../../app/may.ts";
import type { ObjectPlace } from "../../app/object-rules.ts";
import { AsCommand } from "../../parts/as-command.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, SelectField } from "../../parts/field.tsx";
import { Combobox } from "../../parts/combobox.tsx";
import { Failed, Mark } from "../../parts/marks.tsx";
import { Panel } from "../../parts/page.tsx";
import { toast } from "../../parts/toasts.tsx";
import { organizationOptions, teamOptions } from "../../records/options.ts";
import { useSend } from "../../records/use-send.ts";

/** Where a user is, for the rules of roles. */
export function userPlace({ organizations, user_id: user }: UserRow): ObjectPlace {
  return { organizations, user };
}

/** A role with its place, in words. */
export function roleText({ role, at, organization_id: organization, team_id: team }: RoleView) {
  if (at === "whole") return `${role} of the whole gateway`;
  return `${role} of ${at} ${organization ?? team ?? ""}`;
}

/** Roles, in words. */
export function rolesText(roles: readonly RoleView[]): string {
  return roles.map(roleText).join(", ");
}

/** The panel. */
export function RolePanel({ row }: { readonly row: UserRow }) {
  const isAllowed = useMayOn(userPlace(row))("role.grant") && row.managed_by !== "file";
  const refresh = useRefresh();
  const [isAdding, setAdding] = useState(false);
  const sending = useSend();
  const remove = async (gone: RoleView): Promise<void> => {
    const answer = await sending.run(() =>
      changeRoles(row.user_id, (roles) => roles.filter((one) => !isSameRole(one, gone))),
    );
    if (answer === undefined) return;
    toast(`${row.user_id} is not ${roleText(gone)} any more.`);
    refresh("/user/");
  };
  const add = isAllowed && (
    <Button icon="plus" onClick={() => setAdding(true)}>
      Give a role
    </Button>
  );
  return (
    <Panel title="Roles" end={add}>
      <div class="stack-s">
        <Failed of={sending.failure} />
        {row.roles.length === 0 && <p class="muted">None: the user administers nothing.</p>}
        <ul class="stack-s">
          {row.roles.map((role) => (
            <li class="row" key={roleText(role)}>
              <Mark tone="accent">{role.role}</Mark>
              <span>{roleText(role).replace(`${role.role} `, "")}</span>
              {isAllowed && (
                <Button
                  kind="quiet"
                  icon="trash"
                  label={`Take away: ${roleText(role)}`}
                  isBusy={sending.isBusy}
                  onClick={() => void remove(role)}
                />
              )}
            </li>
          ))}
        </ul>
      </div>
      {isAdding && <AddRole row={row} onClose={() => setAdding(false)} />}
    </Panel>
  );
}

function isSameRole(a: RoleView, b: RoleView): boolean {
  return roleText(a) === roleText(b);
}

/** Reads the roles, and writes them as they are then: what others gave meanwhile stays. */
async function changeRoles(
  userId: string,
  change: (roles: readonly RoleView[]) => readonly RoleView[],
): Promise<object> {
  const { user_info: now } = await get<{ readonly user_info: UserRow }>("/user/info", {
    user_id: userId,
  });
  return post<object>("/user/update", { user_id: userId, roles: change(now.roles) });
}

const ROLES = [
  ["viewer", "Viewer: reads"],
  ["keys", "Keys: and manages keys and teams"],
  ["operator", "Operator: and reloads, rolls back, restarts"],
  ["admin", "Admin: and everything else"],
] as const;

const PLACES = [
  ["whole", "The whole gateway"],
  ["organization", "An organization"],
  ["team", "A team"],
] as const;

function AddRole({ row, onClose }: { readonly row: UserRow; readonly onClose: () => void }) {
  const refresh = useRefresh();
  const sending = useSend();
  const [role, setRole] = useState<RoleView["role"]>("viewer");
  const [at, setAt] = useState<RoleView["at"]>("whole");
  const [place, setPlace] = useState<readonly string[]>([]);
  const [id = ""] = place;
  const added: RoleView = { role, at, ...(at !== "whole" && { [`${at}_id`]: id }) };
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    const answer = await sending.run(() =>
      changeRoles(row.user_id, (roles) => [
        ...roles.filter((one) => !isSameRole(one, added)),
        added,
      ]),
    );
    if (answer === undefined) return;
    toast(`${row.user_id} is ${roleText(added)}.`);
    refresh("/user/");
    onClose();
  };
  return (
    <Dialog title={`Give ${row.user_id} a role`} onClose={onClose}>
      <form onSubmit={(event) => void send(event)}>
        <div class="dialog-body">
          <Failed of={sending.failure} />
          <SelectField
            label="Role"
            value={role}
            choices={ROLES}
            onInput={(value) => setRole(value as RoleView["role"])}
          />
          <PlaceFields at={at} place={place} onAt={setAt} onPlace={setPlace} />
          <AsCommand
            doing={{
              path: "/user/update",
              body: { user_id: row.user_id, roles: [...row.roles, added] },
            }}
          />
        </div>
        <div class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={sending.isBusy}>
            Give the role
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function PlaceFields(props: {
  readonly at: RoleView["at"];
  readonly place: readonly string[];
  readonly onAt: (at: RoleView["at"]) => void;
  readonly onPlace: (place: readonly string[]) => void;
}) {
  const { at, place, onAt, onPlace } = props;
  return (
    <>
      <SelectField
        label="Where"
        value={at}
        choices={PLACES}
        onInput={(value) => {
          onAt(value as RoleView["at"]);
          onPlace([]);
        }}
      />
      {at !== "whole" && <PlaceField at={at} place={place} onInput={onPlace} />}
    </>
  );
}

function PlaceField(props: {
  readonly at: "organization" | "team";
  readonly place: readonly string[];
  readonly onInput: (place: readonly string[]) => void;
}) {
  const { at, place, onInput } = props;
  return (
    <Field label={at === "team" ? "Team" : "Organization"}>
      {(ties) => (
        <Combobox
          key={at}
          ties={ties}
          values={place}
          onInput={onInput}
          optionsFor={at === "team" ? teamOptions : organizationOptions}
          isMultiple={false}
          takesOthers={false}
        />
      )}
    </Field>
  );
}
