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

applyTheme();
void findSession();
// The view is fetched while the session is looked up. A failure is shown where it is needed.
loadView(readRoute(location.hash).segments[0] ?? "overview").catch(() => undefined);

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
