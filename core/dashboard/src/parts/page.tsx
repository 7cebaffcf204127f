/** The frame of a screen: title, lead, actions; and panels inside of it. */

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Icon } from "./icon.tsx";

/** The head of a screen. The first heading takes the focus when the screen changes. */
export function Head(props: {
  readonly title: string;
  readonly lead?: ComponentChildren;
  /** Where the screen belongs: `["Keys", "#/keys"]`. */
  readonly parent?: readonly [name: string, href: string];
  readonly marks?: ComponentChildren;
  readonly actions?: ComponentChildren;
}) {
  const { title, lead, parent, marks, actions } = props;
  useEffect(() => {
    document.title = `${title} – Sluice`;
  }, [title]);
  return (
    <div class="head">
      <div class="titles">
        {parent !== undefined && (
          <a class="crumb" href={parent[1]}>
            <Icon name="left" />
            {parent[0]}
          </a>
        )}
        <div class="row">
          <h1 tabIndex={-1}>{title}</h1>
          {marks}
        </div>
        {lead !== undefined && <p class="lead">{lead}</p>}
      </div>
      {actions !== undefined && <div class="actions">{actions}</div>}
    </div>
  );
}

/** A panel with a heading. */
export function Panel(props: {
  readonly title: string;
  readonly end?: ComponentChildren;
  /** Whether the content reaches the edges, as tables do. */
  readonly isFlush?: boolean;
  readonly children: ComponentChildren;
}) {
  const { title, end, isFlush = false, children } = props;
  return (
    <section class="panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {end !== undefined && <div class="end row">{end}</div>}
      </header>
      {isFlush ? children : <div class="pad">{children}</div>}
    </section>
  );
}

/** Names with their values. Rows without a value are left out. */
export function Facts(props: {
  readonly rows: readonly (readonly [name: string, value: ComponentChildren])[];
}) {
  const shown = props.rows.filter(([, value]) => value !== undefined);
  return (
    <dl class="facts">
      {shown.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value ?? <span class="muted">–</span>}</dd>
        </>
      ))}
    </dl>
  );
}
