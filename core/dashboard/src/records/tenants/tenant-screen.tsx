/** The screen of a kind of records: the list, and the page of one. */

import type { Limits } from "../../api/records.ts";
import type { TenantKind } from "./kind.ts";
import { TenantList } from "./tenant-list.tsx";
import { TenantPage } from "./tenant-page.tsx";

/** The screen. */
export function TenantScreen<Row extends Limits>(props: {
  readonly kind: TenantKind<Row>;
  readonly path: readonly string[];
}) {
  const { kind, path } = props;
  if (path.length === 0) return <TenantList kind={kind} />;
  return <TenantPage key={path.join("/")} kind={kind} path={path} />;
}
