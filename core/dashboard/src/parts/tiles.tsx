/** Figures side by side. */

import type { ComponentChildren } from "preact";

/** The row of figures. */
export function Tiles({ children }: { readonly children: ComponentChildren }) {
  return <div class="tiles">{children}</div>;
}

/** A figure with its name. The line below keeps its place when it is empty. */
export function Tile(props: {
  readonly name: string;
  readonly value: ComponentChildren;
  readonly more?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  const { name, value, more, children } = props;
  return (
    <div class="tile">
      <span class="name">{name}</span>
      <span class="value">{value}</span>
      <span class="more">{more}</span>
      {children}
    </div>
  );
}
