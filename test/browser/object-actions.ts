import type { Locator, Page } from "playwright-core";
import type { Test } from "tap";

/** The menu of actions of an object, on its page. */
export interface ObjectActions {
  readonly dialog: Locator;
  /** Goes to an object and chooses one of its actions, which opens a dialog. */
  readonly choose: (
    path: string,
    name: string,
    action: RegExp,
  ) => Promise<void>;
  /**
   * Presses a button of the dialog, and waits for the notice that it is done.
   * @param typed what must be typed first
   */
  readonly confirm: (button: string, typed?: string) => Promise<void>;
}

/** @param url of the server */
export function objectActions(
  t: Pick<Test, "ok">,
  page: Page,
  url: string,
): ObjectActions {
  const dialog = page.getByRole("dialog");
  const toast = (text: string) =>
    page.getByRole("log").getByRole("listitem").filter({ hasText: text });
  return {
    dialog,
    async choose(path, name, action) {
      // Reloads the page, because the previous page has such a menu, too.
      await page.goto("about:blank");
      await page.goto(`${url}/#${path}`);
      await page.getByRole("heading", { level: 1, name }).waitFor();
      const actions = page.getByRole("group", { name: "Actions" });
      const more = actions.getByRole("button", { name: "More" });
      await more.waitFor();
      // The most used ones are buttons.
      const button = actions.getByRole("button", { name: action });
      if ((await button.count()) > 0) await button.click();
      else {
        await more.click();
        await page.getByRole("menuitem", { name: action }).click();
      }
      await dialog.waitFor();
    },
    async confirm(button, typed) {
      const submit = dialog.getByRole("button", { name: button, exact: true });
      if (typed !== undefined) {
        t.ok(await submit.isDisabled(), `${button} must be confirmed`);
        await dialog.getByLabel(`Type ${typed} to confirm`).fill(typed);
      }
      await submit.click();
      await dialog.waitFor({ state: "detached" });
      await toast(button).filter({ hasText: "Done" }).first().waitFor();
    },
  };
}
