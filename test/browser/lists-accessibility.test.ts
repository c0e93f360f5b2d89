/// <reference lib="dom" />
import t, { type Test } from "tap";
import { startStorageBench } from "../storage-bench.js";
import { violations } from "./axe.js";
import { fitsWindow, openPage, wide, type View } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 300_000 };
t.comment("timeout=300000");
const skip = noBrowserReason() ?? false;

t.test("accessibility of lists", { skip, ...LIMIT }, async (t) => {
  const { admin, url } = await startStorageBench(t);
  const browser = await openBrowser(t);

  const open = async (t: Test, path: string, view: View = wide) => {
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path,
      cookie: admin.cookie,
      view,
    });
    await page
      .getByRole("grid")
      .locator(".row:not(:has(.waiting))")
      .first()
      .waitFor();
    return { page, consoleErrors };
  };

  t.test("no violations, light and dark, wide and narrow", async (t) => {
    for (const colorScheme of ["light", "dark"] as const)
      for (const width of [1440, 390]) {
        const { page } = await open(t, "/vms", { colorScheme, width });
        await page.keyboard.press("j");
        await page.keyboard.press("x");
        await page.getByRole("button", { name: "More", exact: true }).waitFor();
        t.same(await violations(page), [], `${colorScheme} ${width}`);
        t.ok(await fitsWindow(page), "the page does not scroll sideways");
      }
  });

  t.test("no violations in lists of other types, and in groups", async (t) => {
    for (const path of ["hosts", "srs", "messages", "vms?group=$container"]) {
      const { page, consoleErrors } = await open(t, `/${path}`);
      t.same(await violations(page), [], path);
      t.same(consoleErrors, [], path);
    }
  });
});
