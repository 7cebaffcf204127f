/** The entry: the style, the theme, the session, the page. */

import "../style/index.css";
import { QueryClientProvider } from "@tanstack/preact-query";
import { render } from "preact";
import { findSession } from "../api/session.ts";
import { App } from "./app.tsx";
import { queryClient } from "./live.ts";
import { applyTheme } from "./theme.ts";

applyTheme();
void findSession();

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
