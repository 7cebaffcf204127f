/** Light, dark, or as the system says. The choice stays in the browser. */

import { createCell } from "./cell.ts";

/** A theme that the operator chose. */
export type Theme = "system" | "light" | "dark";

const NAME = "sluice.theme";

/** The chosen theme. */
export const themeCell = createCell<Theme>(stored());

/** Sets the theme of the page, now and at later visits. */
export function chooseTheme(theme: Theme): void {
  themeCell.set(theme);
  applyTheme();
  try {
    if (theme === "system") localStorage.removeItem(NAME);
    else localStorage.setItem(NAME, theme);
  } catch {
    // The browser keeps nothing: the choice holds until the page is left.
  }
}

/** Puts the chosen theme on the page. */
export function applyTheme(): void {
  const { dataset } = document.documentElement;
  if (themeCell.value === "system") delete dataset["theme"];
  else dataset["theme"] = themeCell.value;
}

function stored(): Theme {
  try {
    const value = localStorage.getItem(NAME);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}
