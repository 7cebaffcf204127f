/** The top bar: where this is, what runs, the search, who is signed in. */

import { signOut } from "../api/session.ts";
import type { ConfigStatus } from "../api/config.ts";
import { asApiError } from "../api/api-error.ts";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { Mark } from "../parts/marks.tsx";
import { Menu, MenuItem } from "../parts/menu.tsx";
import { Segments } from "../parts/field.tsx";
import { toast } from "../parts/toasts.tsx";
import { useCell } from "./cell.ts";
import { useSession } from "./may.ts";
import { chooseTheme, type Theme, themeCell } from "./theme.ts";

/** The bar. */
export function TopBar(props: {
  readonly status: ConfigStatus | undefined;
  readonly onSearch: () => void;
  readonly onMenu: () => void;
}) {
  const { status, onSearch, onMenu } = props;
  const name = status?.name ?? location.host;
  return (
    <header class="bar">
      <Button class="menu-button" kind="quiet" icon="menu" label="Screens" onClick={onMenu} />
      <div class="environment" title={`Environment ${name}`}>
        <span class="dot" data-hue={status?.name == null ? 0 : hueOf(status.name)} />
        <span>{name}</span>
      </div>
      {status?.live != null && (
        <span class="optional row">
          <Mark title={`Generation ${status.live.generation}, digest ${status.live.digest}`}>
            gen {status.live.generation}
          </Mark>
          {status.drift.files_differ && <Mark tone="warn">files differ</Mark>}
        </span>
      )}
      <div class="end">
        <button
          type="button"
          class="button search-button"
          aria-label="Search"
          aria-keyshortcuts="/"
          onClick={onSearch}
        >
          <Icon name="search" />
          <span>Search</span>
          <kbd>/</kbd>
        </button>
        <Person />
      </div>
    </header>
  );
}

function Person() {
  const { name, role } = useSession();
  const theme = useCell(themeCell);
  const leave = (): void => {
    signOut().catch((error: unknown) => toast(asApiError(error).message));
  };
  return (
    <Menu label={`${name ?? "master key"}: account and theme`} icon="user" isIconOnly>
      <div class="menu-note">
        <strong>{name ?? "Master key"}</strong>
        <span class="muted small">Role: {role ?? "none"}</span>
      </div>
      <div class="menu-note">
        <Segments
          label="Theme"
          value={theme}
          choices={[
            ["system", "System"],
            ["light", "Light"],
            ["dark", "Dark"],
          ]}
          onInput={(value) => chooseTheme(value as Theme)}
        />
      </div>
      <MenuItem icon="leave" onClick={leave}>
        Sign out
      </MenuItem>
    </Menu>
  );
}

/** One of five colours for the name of an environment: production never looks like a test. */
function hueOf(name: string): number {
  let sum = 0;
  for (const character of name) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 9_973;
  return sum % 5;
}
