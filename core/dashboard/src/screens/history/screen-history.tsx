/** History: what runs, what ran, who changed it; canary and rollback. */

import type { ScreenProps } from "../../app/screen-props.ts";
import { GenerationPage } from "./generation-page.tsx";
import { HistoryPage } from "./history-page.tsx";

/** The screen. */
export default function HistoryScreen({ path: [number] }: ScreenProps) {
  if (number === undefined) return <HistoryPage />;
  return <GenerationPage key={number} name={number} />;
}
