/** Models, and the deployments behind them. */

import type { ScreenProps } from "../../app/screen-props.ts";
import { useMay } from "../../app/may.ts";
import { href } from "../../app/route.ts";
import { Head } from "../../parts/page.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { DeploymentPage } from "./deployment-page.tsx";
import { Deployments } from "./deployments.tsx";
import { ModelList } from "./model-list.tsx";

const TABS = [
  { name: "list", title: "Models", action: "model.read", href: href(["models"]) },
  {
    name: "deployments",
    title: "Deployments",
    action: "deployment.read",
    href: href(["models", "deployments"]),
  },
] as const;

/** The screen. The id of a deployment has a slash, and is one segment. */
export default function ModelsScreen({ path: [id] }: ScreenProps) {
  const may = useMay();
  if (id?.includes("/") === true) return <DeploymentPage key={id} id={id} />;
  const tabs = TABS.filter(({ action }) => may(action));
  const current = tabs.find(({ name }) => name === id)?.name ?? tabs[0]?.name;
  return (
    <>
      <Head
        title="Models"
        lead="What clients may name, and the targets that answer: weight, price, fallbacks, health."
      />
      {tabs.length > 1 && <Tabs label="Parts of the screen" tabs={tabs} current={current ?? ""} />}
      {current === "list" && <ModelList />}
      {current === "deployments" && <Deployments />}
    </>
  );
}
