/** How an operator works a page: with a mouse, or with the keyboard alone. Both are counted. */

import type { Locator, Page } from "playwright-core";

/** A way to work a page. */
export interface Hand {
  readonly name: "mouse" | "keyboard";
  /** Clicks of the mouse, or keys pressed besides what is typed into fields. */
  readonly count: number;
  /** Goes to a screen of the navigation. */
  goTo(title: string): Promise<void>;
  /** Presses a button, or follows a link. */
  press(target: Locator): Promise<void>;
  /** Replaces the text of a field. */
  fill(field: Locator, text: string): Promise<void>;
  /** Chooses an option by its words. */
  choose(select: Locator, option: string): Promise<void>;
  /** Types where the focus is. */
  type(text: string): Promise<void>;
  /** Presses a key, such as `Escape`. */
  key(name: string): Promise<void>;
}

const MAX_TABS = 150;

/** A mouse: it moves to what it presses. */
export function mouseOf(page: Page): Hand {
  let count = 0;
  const click = async (target: Locator): Promise<void> => {
    await target.click();
    count += 1;
  };
  return {
    name: "mouse",
    get count() {
      return count;
    },
    goTo: (title) => click(page.locator("nav").getByRole("link", { name: title, exact: true })),
    press: click,
    async fill(field, text) {
      if (!(await hasFocus(field))) await click(field);
      await page.keyboard.press("Control+A");
      await page.keyboard.insertText(text);
    },
    async choose(select, option) {
      await select.selectOption({ label: option });
      // One click opens the list and one chooses.
      count += 2;
    },
    type: (text) => page.keyboard.insertText(text),
    key: (name) => page.keyboard.press(name),
  };
}

/** The keyboard alone: it goes from one focus to the next. */
export function keyboardOf(page: Page): Hand {
  const { keyboard } = page;
  let count = 0;
  const key = async (name: string): Promise<void> => {
    await keyboard.press(name);
    count += 1;
  };
  const reach = async (target: Locator): Promise<void> => {
    await target.waitFor();
    for (let presses = 0; presses < MAX_TABS; presses += 1) {
      if (await hasFocus(target)) return;
      // In the text of the editor, Tab indents; after Escape it leaves.
      if (await isInText(page)) await key("Escape");
      await key("Tab");
    }
    throw new Error(`No Tab of ${MAX_TABS} reached ${target}.`);
  };
  return {
    name: "keyboard",
    get count() {
      return count;
    },
    async goTo(title) {
      await key("/");
      await page.getByRole("combobox", { name: /^Search/ }).waitFor();
      await keyboard.type(title);
      await page.getByRole("option", { name: title }).first().waitFor();
      await key("Enter");
    },
    async press(target) {
      await reach(target);
      await key("Enter");
    },
    async fill(field, text) {
      await reach(field);
      await keyboard.press("Control+A");
      await keyboard.insertText(text);
    },
    async choose(select, option) {
      await reach(select);
      // A letter chooses the next option that begins with it.
      const current = (): Promise<string> =>
        select.evaluate((element) => (element as HTMLSelectElement).selectedOptions[0]?.text ?? "");
      for (let presses = 0; presses < MAX_TABS && (await current()) !== option; presses += 1)
        await key(option[0] ?? "");
    },
    type: (text) => keyboard.insertText(text),
    key,
  };
}

/** Whether the focus is in the text of the editor. */
export function isInText(page: Page): Promise<boolean> {
  return page.evaluate(
    () =>
      document.activeElement?.shadowRoot?.activeElement?.classList.contains("cm-content") === true,
  );
}

function hasFocus(target: Locator): Promise<boolean> {
  return target.evaluate((element) => element === document.activeElement);
}
