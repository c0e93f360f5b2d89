/// <reference lib="dom" />
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { startStorageBench } from "../storage-bench.js";
import { violations } from "./axe.js";
import { narrow, openPage, wide } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

t.test(
  "the overview, the map and the charts",
  { skip, ...LIMIT },
  async (t) => {
    const bench = await startStorageBench(t, "--members", "2");
    const { admin, list, url } = bench;
    const browser = await openBrowser(t);

    const open = async (t: Test, path: string, view = wide) => {
      const { page, consoleErrors } = await openPage(t, {
        browser,
        url,
        path,
        cookie: admin.cookie,
        view,
      });
      return { page, main: page.getByRole("main"), consoleErrors };
    };
    const hottest = (page: Page) =>
      page.getByRole("region", { name: "Highest: CPU" }).getByRole("row");

    t.test(
      "the whole fleet fits on one screen with links",
      LIMIT,
      async (t) => {
        const { page, main, consoleErrors } = await open(t, "/");
        const vms = await list("vms");
        const states = main.getByRole("link", { name: /^Running \d/ });
        await states.waitFor();
        const counted = await states.textContent();
        t.match(counted, /\d+/);
        await main
          .getByText(String(vms.length), { exact: true })
          .first()
          .waitFor();
        await main.getByRole("row", { name: /Live/ }).waitFor();
        await hottest(page).nth(1).waitFor();
        t.ok(
          await page.evaluate(
            () => document.documentElement.scrollHeight <= innerHeight,
          ),
          "nothing is below the fold",
        );
        t.ok(
          await page
            .getByRole("region", { name: "Pools: connection and load" })
            .evaluate((box) => box.scrollWidth <= box.clientWidth),
          "no column of the pools is cut",
        );
        await states.click();
        await page.waitForURL(/#\/vms\?q=power_state/);
        t.same(consoleErrors, []);
      },
    );

    t.test(
      "the heat map is used by keyboard, and opens a VM",
      LIMIT,
      async (t) => {
        const { page, main, consoleErrors } = await open(t, "/");
        await hottest(page).nth(1).waitFor();
        const map = main.getByRole("application", { name: "Heat map" });
        await map.focus();
        await page.keyboard.press("ArrowRight");
        const said = main
          .getByRole("status")
          .filter({ hasText: /: CPU (\d+%|no data)$/ });
        await said.waitFor({ state: "attached" });
        const first = await said.textContent();
        await page.keyboard.press("ArrowRight");
        await page.waitForFunction(
          (first) =>
            !Array.from(document.querySelectorAll("[role=status]")).some(
              ({ textContent }) => textContent === first,
            ),
          first,
        );
        await page.keyboard.press("Enter");
        await page.waitForURL(/#\/vms\/[0-9a-f-]{36}/);
        t.same(consoleErrors, []);
      },
    );

    t.test("a host's head leads into it, and back", LIMIT, async (t) => {
      const { page, main } = await open(t, "/");
      await hottest(page).nth(1).waitFor();
      const map = main.getByRole("application", { name: "Heat map" });
      const { x, y } = (await map.boundingBox())!;
      // Heads without room for a name are four pixels high.
      await page.mouse.click(x + 20, y + 2);
      const crumbs = main.getByRole("navigation", { name: "Scope" });
      await crumbs.getByRole("link").waitFor();
      t.match(
        await crumbs.getByRole("link").getAttribute("href"),
        /^#\/hosts\/[0-9a-f-]{36}$/,
      );
      await map.focus();
      await page.keyboard.press("Escape");
      await page.keyboard.press("Escape");
      await main.getByRole("heading", { name: "Heat map" }).waitFor();
    });

    t.test("statistics of a VM: ranges, zoom, CSV export", async (t) => {
      const [vm] = await list("vms", "power_state:Running");
      const { page, main, consoleErrors } = await open(
        t,
        `/vms/${vm!.id}/statistics`,
      );
      const cpu = main.getByRole("region", { name: "CPU", exact: true });
      await cpu.getByRole("img", { name: /^CPU over time/ }).waitFor();
      await cpu.getByRole("row", { name: /All cores.*\d+%/ }).waitFor();
      const back = main.getByRole("button", { name: "Reset zoom" });
      await cpu.getByRole("img").focus();
      await page.keyboard.press("+");
      await back.waitFor();
      await page.keyboard.press("Escape");
      await back.waitFor({ state: "hidden" });
      await main.getByText("1 week", { exact: true }).click();
      await page.waitForURL(/range=week/);
      await cpu.getByRole("row", { name: /All cores.*\d+%/ }).waitFor();
      await main.getByRole("button", { name: "Export" }).click();
      const [file] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("menuitem", { name: "Data as CSV" }).click(),
      ]);
      t.match(file.suggestedFilename(), /-week\.csv$/);
      t.same(consoleErrors, []);
    });

    t.test("without alarm rules it is not called quiet", LIMIT, async (t) => {
      const rules = await admin.request<{ id: string }[]>("alarmRule.getAll");
      for (const { id } of rules)
        await admin.request("alarmRule.delete", { id });
      const { main } = await open(t, "/");
      await main.getByText("No alarm rules yet", { exact: true }).waitFor();
      t.equal(await main.getByText("no alarms", { exact: true }).count(), 0);
    });

    t.test(
      "a narrow header does not move while its menus are loaded",
      LIMIT,
      async (t) => {
        const { page } = await open(t, "/", narrow);
        const account = page.getByRole("button", { name: /: account, theme/ });
        await account.waitFor();
        const search = page.getByRole("button", {
          name: /^Search and actions/,
        });
        const { x } = (await search.boundingBox())!;
        let release = () => undefined as void;
        const released = new Promise<void>((resolve) => (release = resolve));
        await page.route(/(AccountMenu|TasksTray)[^/]*\.js/, async (route) => {
          await released;
          await route.continue();
        });
        await page.reload();
        await search.waitFor();
        t.equal(await account.count(), 0, "not loaded");
        t.equal((await search.boundingBox())!.x, x);
        release();
        await account.waitFor();
        t.equal((await search.boundingBox())!.x, x);
      },
    );

    t.test("large figures of a legend do not overlap", LIMIT, async (t) => {
      const [vm] = await list("vms", "power_state:Running");
      const path = `/vms/${vm!.id}/statistics`;
      const { main } = await open(t, path, narrow);
      const cpu = main.getByRole("region", { name: "CPU", exact: true });
      await cpu.getByRole("row", { name: /All cores.*\d+%/ }).waitFor();
      const cut = await cpu.getByRole("table").evaluate((table) => {
        const cells = Array.from(table.querySelectorAll("tbody td"));
        for (const cell of cells) cell.textContent = "1,234,567 MiB/s";
        const { right } = table.closest("section")!.getBoundingClientRect();
        return cells
          .filter(
            (cell) =>
              cell.scrollWidth > cell.clientWidth ||
              cell.getBoundingClientRect().right > right,
          )
          .map((cell) => `${cell.scrollWidth} in ${cell.clientWidth}`);
      });
      t.same(cut, []);
    });

    for (const view of [wide, narrow])
      t.test(
        `no accessibility violations, ${view.colorScheme}, ${view.width}`,
        async (t) => {
          const { page, main, consoleErrors } = await open(t, "/", view);
          await hottest(page).nth(1).waitFor();
          await main.getByText("Last hour").waitFor();
          t.same(await violations(page), []);
          const [host] = await list("hosts");
          await page.goto(`${url}/#/hosts/${host!.id}/statistics`);
          await main.getByRole("img", { name: /^CPU over time/ }).waitFor();
          t.same(await violations(page), []);
          t.same(consoleErrors, []);
        },
      );
  },
);
