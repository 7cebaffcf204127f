/** Loads a screen and shows it, or says why there is none. */

import { useLayoutEffect, useState } from "preact/hooks";
import { Boundary } from "./boundary.tsx";
import { Empty, Loading } from "../parts/states.tsx";
import { Notice } from "../parts/marks.tsx";
import { Button } from "../parts/button.tsx";
import { Head } from "../parts/page.tsx";
import { useMay, useSession } from "./may.ts";
import type { ScreenProps } from "./screen-props.ts";
import { loadView, type ScreenView, viewOf } from "./screen-views.ts";
import { type Screen, SCREENS } from "./screens.ts";

/** The screen of a name. */
export function ScreenPlace({ name, path }: ScreenProps & { readonly name: string }) {
  const may = useMay();
  const { admin_api: version } = useSession();
  const screen = SCREENS.find((one) => one.name === name);
  if (screen === undefined)
    return (
      <>
        <Head title="Not found" />
        <Empty title="There is no such screen">
          The address names <code>{name}</code>. Choose a screen from the list, or search.
        </Empty>
      </>
    );
  if (!screen.actions.some(may))
    return (
      <>
        <Head title={screen.title} />
        <Empty icon="lock" title="Your role does not include this screen">
          It needs the action <code>{screen.actions.join(", ")}</code>.
        </Empty>
      </>
    );
  if (screen.api > version)
    return (
      <>
        <Head title={screen.title} />
        <Empty title="This gateway is older than the dashboard">
          The screen needs version {screen.api} of the admin API, and this gateway has {version}.
          Update the gateway.
        </Empty>
      </>
    );
  return <Loaded key={screen.name} screen={screen} path={path} />;
}

function Loaded({ screen, path }: ScreenProps & { readonly screen: Screen }) {
  const [view, setView] = useState<{ readonly View: ScreenView } | undefined>(() => {
    const View = viewOf(screen.name);
    return View === undefined ? undefined : { View };
  });
  const [isFailed, setFailed] = useState(false);
  // Before the paint: a file that is there already shows no empty frame first.
  useLayoutEffect(() => {
    if (view !== undefined) return;
    loadView(screen.name).then(
      (View) => setView({ View }),
      () => setFailed(true),
    );
  }, []);
  if (view !== undefined)
    return (
      <Boundary title={screen.title}>
        <view.View path={path} />
      </Boundary>
    );
  if (!isFailed)
    return (
      <>
        <Head title={screen.title} />
        <Loading />
      </>
    );
  const reload = (
    <Button icon="refresh" onClick={() => location.reload()}>
      Reload the page
    </Button>
  );
  return (
    <>
      <Head title={screen.title} />
      <Notice tone="bad" actions={reload}>
        A part of the dashboard could not be loaded. The gateway may have been updated meanwhile.
      </Notice>
    </>
  );
}
