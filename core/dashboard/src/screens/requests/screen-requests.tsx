/** Requests: the newest ones, and the trace of one. */

import type { ScreenProps } from "../../app/screen-props.ts";
import { RequestList } from "./request-list.tsx";
import { TracePage } from "./trace-page.tsx";

/** The screen. */
export default function RequestsScreen({ path: [id] }: ScreenProps) {
  return id === undefined ? <RequestList /> : <TracePage key={id} id={id} />;
}
