import t, { type Test } from "tap";
import { startStorageBench } from "../storage-bench.js";
import { violations } from "./axe.js";
import { narrow, openPage, wide, type View } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 180_000 };
t.comment("timeout=180000");
const skip = noBrowserReason() ?? false;

t.test("the palette, and the keyboard", { skip, ...LIMIT }, async (t) => {
  const { admin, list, url } = await startStorageBench(t);
  const [vm] = await list("vms", "power_state:Running");
  const name = String(vm!["name_label"]);
  const browser = await openBrowser(t);

  const open = async (t: Test, path = "/tasks", view: View = wide) => {
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path,
      cookie: admin.cookie,
      view,
    });
    await page.getByRole("heading", { level: 1 }).waitFor();
    // The code of the shortcuts is loaded after the page.
    await page.waitForLoadState("networkidle");
    const palette = page.getByRole("dialog", {
      name: "Search and actions",
    });
    const option = (text: string) =>
      palette.getByRole("option").filter({ hasText: text });
    const call = async () => {
      await page.keyboard.press("Control+k");
      await palette.waitFor();
    };
    return { page, palette, option, call, consoleErrors };
  };

  t.test("a name and Enter lead to an object", async (t) => {
    const { page, palette, call, consoleErrors } = await open(t);
    await call();
    await page.keyboard.type(name);
    // Enter is pressed before the response arrives: it applies to the first result.
    await page.keyboard.press("Enter");
    await page.waitForURL(`${url}/#/vms/${vm!.id}`);
    await call();
    await page.keyboard.type(name);
    const first = palette.locator('[aria-selected="true"]');
    await first
      .filter({ hasText: name })
      .filter({ hasText: "Running" })
      .waitFor();
    t.same(consoleErrors, []);
  });

  t.test(
    "files that an update of the server has replaced lead to a notice, not to silence",
    async (t) => {
      const { page } = await open(t);
      await page.route("**/assets/PaletteDialog*", (route) =>
        route.fulfill({ status: 404 }),
      );
      await page.keyboard.press("Control+k");
      const notice = page.getByRole("log").getByRole("listitem");
      await notice.filter({ hasText: "could not be loaded" }).waitFor();
      await page.unroute("**/assets/PaletteDialog*");
      await notice.getByRole("button", { name: "Reload" }).click();
      await notice.waitFor({ state: "detached" });
    },
  );

  t.test("first an object, then its action", async (t) => {
    const { page, palette, option, call } = await open(t);
    await call();
    await page.keyboard.type(name);
    await option(name).first().waitFor();
    await page.keyboard.press("Tab");
    await palette.getByText(`Actions for ${name}`).waitFor();
    await page.keyboard.press("Enter");
    t.equal(await palette.count(), 1, "not without a choice");
    await page.keyboard.type("pause");
    await page.keyboard.press("Enter");
    await palette.waitFor({ state: "detached" });
    const state = async () =>
      (await list("vms", `id:${vm!.id}`))[0]!["power_state"];
    while ((await state()) !== "Paused") continue;
    t.pass("it is paused");
  });

  t.test("on its page an object's actions are shown immediately", async (t) => {
    const { page, palette, option, call } = await open(t, `/vms/${vm!.id}`);
    await page.getByRole("heading", { name }).waitFor();
    await call();
    await palette.getByText(`Actions for ${name}`).waitFor();
    t.equal(await palette.locator('[aria-selected="true"]').count(), 0);
    await page.keyboard.type("storage");
    await option("Storage map").waitFor();
    await page.keyboard.press("Escape");
    await palette.waitFor({ state: "detached" });
    await page.goto(`${url}/#/tasks`);
    await page.getByRole("heading", { name: "Tasks", level: 1 }).waitFor();
    await call();
    await palette.getByText("Recent").waitFor();
    await option(name).waitFor();
  });

  t.test("shortcuts navigate, but not in text fields", async (t) => {
    const { page, consoleErrors } = await open(t);
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await page.waitForURL(`${url}/#/activity`);
    await page.keyboard.press("/");
    await page.getByRole("combobox").waitFor();
    await page.keyboard.type("gt?");
    t.equal(await page.getByRole("combobox").inputValue(), "gt?");
    await page.keyboard.press("Escape");
    await page.getByRole("combobox").waitFor({ state: "detached" });
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keyboard" });
    await help.getByText("Go to Tasks").waitFor();
    await help.getByRole("checkbox").uncheck();
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
    await page.reload();
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForLoadState("networkidle");
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").waitFor();
    t.match(page.url(), /#\/activity$/, "switched off, and remembered");
    t.same(consoleErrors, []);
  });

  for (const view of [wide, narrow])
    t.test(`no accessibility violations: ${view.colorScheme}`, async (t) => {
      const { page, palette, option, call } = await open(t, "/tasks", view);
      await call();
      await option("Overview").waitFor();
      t.same(await violations(page), []);
      await page.keyboard.type(name);
      await option(name).first().waitFor();
      t.same(await violations(page), []);
      await page.keyboard.press("Escape");
      await palette.waitFor({ state: "detached" });
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
      t.same(await violations(page), []);
    });
});
