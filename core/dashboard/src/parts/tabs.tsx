/** Parts of one screen, each with a place of its own. */

/** One tab: its words and its fragment. */
export interface Tab {
  readonly name: string;
  readonly title: string;
  readonly href: string;
}

/** The row of tabs. They are links: each part can be copied and reloaded. */
export function Tabs(props: {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly current: string;
}) {
  const { label, tabs, current } = props;
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ name, title, href }) => (
        <a key={name} href={href} aria-current={name === current ? "page" : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
