/** What needs an operator, each with its next step. */

import type { Overview } from "../../api/overview.ts";
import { href } from "../../app/route.ts";
import { SCREENS } from "../../app/screens.ts";
import { Notice } from "../../parts/marks.tsx";

/** The list. Nothing is shown while nothing needs attention. */
export function Attention({ items }: { readonly items: Overview["attention"] }) {
  if (items.length === 0) return null;
  return (
    <section class="alerts" aria-label="What needs an operator">
      {items.map(({ key, risk, text, next, screen }) => (
        <Notice
          key={key}
          tone={risk === "danger" ? "bad" : "warn"}
          actions={<To screen={screen} />}
        >
          <strong>{text}</strong> <span class="muted">{next}</span>
        </Notice>
      ))}
    </section>
  );
}

function To({ screen }: { readonly screen: string }) {
  const found = SCREENS.find(({ name }) => name === screen);
  return found === undefined ? null : <a href={href([screen])}>{found.title}</a>;
}
