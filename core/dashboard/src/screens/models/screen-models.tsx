/** Models and the deployments behind them. */

import type { ScreenProps } from "../../app/screen-props.ts";
import { DeploymentPage } from "./deployment-page.tsx";
import { Deployments } from "./deployments.tsx";

/** The screen. The id of a deployment has a slash, and is one segment. */
export default function ModelsScreen({ path: [id] }: ScreenProps) {
  return id === undefined ? <Deployments /> : <DeploymentPage key={id} id={id} />;
}
