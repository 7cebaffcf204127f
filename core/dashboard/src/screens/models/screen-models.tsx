/** Models and the deployments behind them. */

import { Deployments } from "./deployments.tsx";

/** The screen. */
export default function ModelsScreen() {
  return <Deployments />;
}
