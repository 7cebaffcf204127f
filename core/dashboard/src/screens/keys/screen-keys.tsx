/** Keys: the list, and the page of one. */

import type { ScreenProps } from "../../app/screen-props.ts";
import { KeyList } from "./key-list.tsx";
import { KeyPage } from "./key-page.tsx";

/** The screen. */
export default function KeysScreen({ path: [id] }: ScreenProps) {
  return id === undefined ? <KeyList /> : <KeyPage key={id} id={id} />;
}
