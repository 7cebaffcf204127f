/** The entry: the style, the theme, the session, the page. */

import "../style/index.css";
import { QueryClientProvider } from "@tanstack/preact-query";
import { render } from "preact";
import { findSession } from "../api/session.ts";
import { App } from "./app.tsx";
import { readRoute } from "./route.ts";
import { loadView } from "./screen-views.ts";
import { queryClient } from "./live.ts";
import { applyTheme } from "./theme.ts";

/** How long the first paint waits for the view of its screen. */
const VIEW_MS = 1_000;

applyTheme();
// The view is fetched while the session is looked up, and the first paint has both. A failure is
// shown where it is needed.
const view = loadView(readRoute(location.hash).segments[0] ?? "overview").catch(() => undefined);
void findSession(Promise.race([view, afterMs(VIEW_MS)]));

const place = document.getElementById("app");
if (place !== null) {
  place.replaceChildren();
  render(
    <QueryClientProvider client={queryClient}>
      <App />
    </QueryClientProvider>,
    place,
  );
}

function afterMs(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
