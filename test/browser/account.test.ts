import t from "tap";
import type { Page } from "playwright-core";
import { RunningProgram } from "../running-program.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;
const PASSWORD = "correct horse battery";

async function signIn(page: Page): Promise<void> {
  await page.getByLabel("User name or e-mail").fill("admin");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

t.test(
  "an account, on a server without pools",
  { skip, ...LIMIT },
  async (t) => {
    const args = ["start", "--host", "127.0.0.1", "--port", "0"];
    const env = { XO_ADMIN_PASSWORD: PASSWORD };
    const cwd = t.testdir();
    const server = new RunningProgram(t, "xo-server", args, { cwd, env });
    const url = await server.find(/Web server listening on (http:\S+)/);
    const browser = await openBrowser(t);
    const open = (path: string) =>
      openPage(t, { browser, url, path, cookie: "" });
    const { page, consoleErrors } = await open("/settings/account");
    await signIn(page);
    const dialog = page.getByRole("dialog");

    let token = "";
    await t.test(
      "a token needs a description, and is shown once",
      async (t) => {
        await page.getByRole("button", { name: "Create token" }).click();
        await dialog.getByRole("button", { name: "Create" }).click();
        await dialog.getByText("Required.").waitFor();
        await dialog.getByLabel("Description").fill("report script");
        await dialog.getByRole("button", { name: "Create" }).click();
        token = await dialog.locator("code").innerText();
        await dialog.getByRole("button", { name: "Done" }).click();
        await page.getByRole("row", { name: /^report script/ }).waitFor();
        await checkViews(t, page, "tokens of an account");
      },
    );

    await t.test("a dialog returns the focus to the menu", async (t) => {
      await page.goto(`${url}/#/settings/users`);
      const menu = page
        .getByRole("row", { name: /^admin/ })
        .getByRole("button");
      await menu.focus();
      await page.keyboard.press("Enter");
      await page.getByRole("menuitem", { name: "Edit" }).waitFor();
      await page.keyboard.press("Enter");
      await dialog.waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      await page.waitForFunction(
        () => document.activeElement?.getAttribute("aria-haspopup") === "menu",
      );
      t.ok(await menu.evaluate((button) => button === document.activeElement));
    });

    await t.test("pages without pools offer to connect one", async (t) => {
      for (const path of ["new/vm", "topology", "health-report", "updates"]) {
        await page.goto(`${url}/#/${path}`);
        await page.getByText("No pools connected").waitFor();
        const link = page.getByRole("link", { name: "Connect a pool" });
        t.match(await link.getAttribute("href"), /servers/, path);
      }
      await checkViews(t, page, "updates without pools");
    });

    await t.test("a form refuses an invalid filter", async (t) => {
      await page.goto(`${url}/#/settings/jobs`);
      await page.getByRole("button", { name: "Add job" }).click();
      await dialog.getByLabel("Name", { exact: true }).fill("weekly");
      const filter = dialog.getByRole("combobox", { name: /^Filter/ });
      await filter.fill("name_label:(");
      await page.keyboard.press("Tab");
      await dialog.getByRole("button", { name: "Save" }).click();
      await dialog.getByText("Incomplete: expected").waitFor();
      t.equal(await filter.inputValue(), "name_label:(");
      await filter.fill("name_label:web");
      await dialog.getByRole("button", { name: "Save" }).click();
      await page.getByText("snapshots of name_label:web").waitFor();
    });

    await t.test(
      "signing out everywhere ends all sessions, not tokens",
      async (t) => {
        const other = (await open("/settings/users")).page;
        await signIn(other);
        await other.getByRole("row", { name: /^admin/ }).waitFor();
        t.same(consoleErrors, []);
        await page.goto(`${url}/#/settings/account`);
        await page.getByRole("button", { name: "Sign out everywhere" }).click();
        await dialog
          .getByRole("button", { name: "Sign out everywhere" })
          .click();
        const form = { name: "Sign in", exact: true };
        await page.getByRole("button", form).waitFor();
        await other.getByRole("button", form).waitFor();
        const headers = { authorization: `Bearer ${token}` };
        const { status } = await fetch(`${url}/rest/v0/users/me`, { headers });
        t.equal(status, 200);
      },
    );
  },
);
