/** System: who is signed in, and what administrators did. */

import type { ScreenProps } from "../../app/screen-props.ts";
import { useMay } from "../../app/may.ts";
import { href } from "../../app/route.ts";
import { Head } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { Audit } from "./audit.tsx";
import { Processes } from "./processes.tsx";
import { Sessions } from "./sessions.tsx";

const TABS = [
  { name: "processes", title: "Processes", action: "status.read" },
  { name: "sessions", title: "Sessions", action: "session.read" },
  { name: "audit", title: "Audit", action: "audit.read" },
] as const;

/** The screen. */
export default function SystemScreen({ path: [name] }: ScreenProps) {
  const may = useMay();
  const tabs = TABS.filter(({ action }) => may(action)).map((tab) => ({
    ...tab,
    href: href(["system", tab.name]),
  }));
  const current = tabs.find((tab) => tab.name === name)?.name ?? tabs[0]?.name;
  return (
    <>
      <Head title="System" />
      <Tabs label="Parts of the system" tabs={tabs} current={current ?? ""} />
      {current === "processes" && <Processes />}
      {current === "sessions" && <Sessions />}
      {current === "audit" && <Audit />}
      {current === undefined && (
        <Empty icon="lock" title="Your role does not include any part of this screen" />
      )}
    </>
  );
}
