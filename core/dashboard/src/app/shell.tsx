/** The frame of all screens: navigation, top bar, what is wrong, and the screen itself. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Gate, Icon } from "../parts/icon.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Alerts } from "./alerts.tsx";
import { useMay, useSession } from "./may.ts";
import { useRoute } from "./route.ts";
import { GROUPS, type Screen, SCREENS } from "./screens.ts";
import { ScreenPlace } from "./screen-place.tsx";
import { SearchDialog } from "./search.tsx";
import { useStatus } from "./status.ts";
import { TopBar } from "./top-bar.tsx";

/** The shell. */
export function Shell() {
  const may = useMay();
  const { segments } = useRoute();
  const { data: status } = useStatus();
  const [isSearching, setSearching] = useState(false);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  useSlash(() => setSearching(true));
  const place = segments.join("/");
  const before = useRef(place);
  // Before the paint: a dialog that is opened on the new screen stays.
  useLayoutEffect(() => {
    if (before.current === place) return;
    before.current = place;
    setMenuOpen(false);
    setSearching(false);
    scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [place]);
  const current = segments[0] ?? SCREENS.find(({ actions }) => actions.some(may))?.name ?? "";
  return (
    <div class="shell">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the content
      </a>
      <div class="side">
        <Brand />
        <Navigation current={current} />
      </div>
      <TopBar
        status={status}
        onSearch={() => setSearching(true)}
        onMenu={() => setMenuOpen(true)}
      />
      <main ref={main} tabIndex={-1}>
        <Alerts status={status} />
        <ScreenPlace name={current} path={segments.slice(1)} />
      </main>
      {isSearching && <SearchDialog onClose={() => setSearching(false)} />}
      {isMenuOpen && (
        <Dialog title="Sluice" class="drawer" onClose={() => setMenuOpen(false)}>
          <div class="dialog-body">
            <Navigation current={current} onGo={() => setMenuOpen(false)} />
          </div>
        </Dialog>
      )}
    </div>
  );
}

function Brand() {
  return (
    <a class="brand" href="#/">
      <Gate />
      Sluice
    </a>
  );
}

/** Screens that the session may see. Those that need a newer gateway are named, and off. */
function Navigation(props: { readonly current: string; readonly onGo?: () => void }) {
  const { current, onGo } = props;
  const may = useMay();
  const { admin_api: version } = useSession();
  return (
    <nav aria-label="Screens">
      {GROUPS.map(({ title, screens }) => {
        const shown = screens.filter(({ actions }) => actions.some(may));
        if (shown.length === 0) return null;
        return (
          <div class="nav-group" key={title}>
            <h2>{title}</h2>
            <ul>
              {shown.map((screen) => (
                <li key={screen.name}>
                  <NavLink
                    screen={screen}
                    current={current}
                    isOff={screen.api > version}
                    onGo={onGo}
                  />
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}

function NavLink(props: {
  readonly screen: Screen;
  readonly current: string;
  readonly isOff: boolean;
  readonly onGo: (() => void) | undefined;
}) {
  const { screen, current, isOff, onGo } = props;
  return (
    <a
      class="nav-link"
      href={`#/${screen.name}`}
      onClick={onGo}
      aria-current={screen.name === current ? "page" : undefined}
      aria-disabled={isOff ? "true" : undefined}
      title={isOff ? `Needs admin API ${screen.api}; this gateway has less.` : undefined}
    >
      <Icon name={screen.icon} />
      {screen.title}
    </a>
  );
}

/** The key `/` opens the search, unless something is being typed. */
function useSlash(open: () => void): void {
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
      const { target } = event;
      if (target instanceof Element && target.closest("input,textarea,select,dialog") !== null)
        return;
      // Events of the editor come out of its shadow root with the host as their target.
      if (target instanceof Element && target.shadowRoot !== null) return;
      event.preventDefault();
      open();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}
