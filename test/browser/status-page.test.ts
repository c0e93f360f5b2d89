/// <reference lib="dom" />
import t, { type Test } from "tap";
import type { Browser, Page } from "playwright-core";
import { violations } from "./axe.js";
import {
  consoleErrorsOf,
  openBrowser,
  noBrowserReason,
  webRoot,
} from "./chromium.js";
import {
  fingerprint,
  livePools,
  loadingPools,
  manyPools,
  noPools,
  faultyPools,
} from "./scenarios.js";
import { startScriptedServer, type ScriptedServer } from "./scripted-server.js";
import type { ScriptedStatus } from "./scripted-status.js";

const skip = noBrowserReason() ?? false;

t.test(
  "the status page in a browser",
  { skip, timeout: 120_000 },
  async (t) => {
    const browser = await openBrowser(t);

    const visit = (t: Test, status: ScriptedStatus) => open(t, browser, status);

    t.test("pools are loaded and stay live without a reload", async (t) => {
      const { page, server, consoleErrors } = await visit(t, loadingPools());
      await page.getByText("Connecting", { exact: true }).waitFor();
      const badge = page.getByTitle(/without --data.*lost/i);
      t.equal(await badge.textContent(), "Demo", "what a demo keeps");
      server.show(livePools());
      await page.getByText("63,973").first().waitFor();
      t.equal(await page.locator(".pool").getByText("Live").count(), 3);
      server.patch({
        pools: { "pool-c": { counts: { VM: 4711 }, label: "Pool Z" } },
      });
      await page.getByText("4,711").waitFor();
      await page.getByRole("button", { name: "Pool Z" }).waitFor();
      t.equal(server.subscriptions, 1);
      t.same(consoleErrors, [], "nothing was refused by the content policy");
    });

    t.test(
      "a page that missed a patch requests the whole status again",
      async (t) => {
        const { page, server } = await visit(t, livePools());
        await page.getByText("63,973").first().waitFor();
        server.patch({ pools: { "pool-c": { objects: 1 } } }, 4000);
        await t.resolves(until(() => server.subscriptions === 2));
      },
    );

    t.test(
      "server down: known data stays, and updates resume without a reload",
      async (t) => {
        const { page, server } = await visit(t, livePools());
        await page.getByText("63,973").first().waitFor();
        await page.evaluate(() => {
          document.body.dataset["same"] = "yes";
        });
        server.disconnect();
        await page.getByRole("button", { name: "Retry now" }).waitFor();
        await page.locator(".page.old").waitFor();
        t.ok(await page.getByText("63,973").first().isVisible());
        server.reconnect();
        const retry = page.getByRole("button", { name: "Retry now" });
        // On a slow machine the page may have retried by itself before it is clicked.
        await Promise.any([
          retry.click(),
          retry.waitFor({ state: "detached" }),
        ]);
        await retry.waitFor({ state: "detached" });
        await page.locator(".page.old").waitFor({ state: "detached" });
        t.equal(await page.locator("body").getAttribute("data-same"), "yes");
      },
    );

    t.test(
      "a row opens by keyboard and shows all classes, filtered",
      async (t) => {
        const { page } = await visit(t, livePools());
        const row = page.getByRole("button", { name: "Pool A" });
        await row.focus();
        await page.keyboard.press("Enter");
        t.equal(await row.getAttribute("aria-expanded"), "true");
        await page.getByLabel("Filter classes").fill("metrics");
        const names = await page.locator(".classes .name").allTextContents();
        t.same(names, [
          "host_metrics",
          "PIF_metrics",
          "VM_guest_metrics",
          "VM_metrics",
        ]);
      },
    );

    t.test("errors suggest a remedy", async (t) => {
      const { page } = await visit(t, faultyPools());
      await page.getByText("Authentication failed").waitFor();
      await page.getByRole("button", { name: "Oslo" }).click();
      await page.getByText("Compare the fingerprint").waitFor();
      t.ok(await page.getByText(fingerprint, { exact: true }).isVisible());
    });

    t.test("a pool with a warning explains it", async (t) => {
      const status = livePools();
      const [first, second] = Object.values(status.pools);
      first!.warnings = [
        {
          code: "SAME_POOL",
          message: "has the same UUID as another pool",
          data: { pool: second!.label },
        },
      ];
      const { page, consoleErrors } = await visit(t, status);
      const row = page.locator(".pool").filter({ hasText: "1 warning" });
      await row.getByRole("button", { name: first!.label }).click();
      await row
        .getByText(`This pool has the same UUID as ${second!.label}`)
        .waitFor();
      t.equal(await page.locator(".pool .warnings").count(), 1);
      t.same(await violations(page), []);
      t.same(consoleErrors, []);
    });

    t.test("a corrected error disappears from the page", async (t) => {
      const { page, server, consoleErrors } = await visit(t, faultyPools());
      await page.getByText("Connection lost").waitFor();
      server.patch({
        pools: { porto: { error: null, staleSince: null, state: "watching" } },
      });
      await page.getByText("Connection lost").waitFor({ state: "detached" });
      t.equal(await page.locator(".pool.stale").count(), 0);
      t.same(consoleErrors, []);
    });

    t.test("without pools the page explains how to add one", async (t) => {
      const { page } = await visit(t, noPools());
      await page.getByRole("heading", { name: "No pools connected" }).waitFor();
      t.match(await page.locator("pre").first().textContent(), /passwordFile/);
      t.ok(await page.getByText("xo-server start --demo").isVisible());
    });

    t.test(
      "two hundred pools: all listed, filtered by a few letters, cheap to update",
      async (t) => {
        const { page, server } = await visit(t, manyPools());
        await page.getByRole("button", { name: "Site 001" }).waitFor();
        t.equal(await page.locator(".pool").count(), 200);
        const change = await page.evaluateHandle(countMutations);
        for (let i = 0; i < 40; i += 1)
          server.patch({ pools: { "site-002": { objects: 100_000 + i } } });
        await page.getByText("100,039").waitFor();
        const changed = await change.evaluate((counter) => counter.rows.size);
        t.equal(changed, 1, "only the row that changed was drawn");
        await page.keyboard.press("/");
        await page.keyboard.type("site 040");
        await rows(page, 1);
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: /^Problems/ }).click();
        await rows(page, 7);
      },
    );

    t.test("rows do not move under the pointer", async (t) => {
      const { page, server } = await visit(t, livePools());
      const row = page.getByRole("button", { name: "Pool B" });
      await row.hover();
      const before = await row.boundingBox();
      server.patch({
        pools: {
          "pool-a": { label: "Zeta", state: "backing-off", objects: 9_999_999 },
          "pool-c": { label: "Alpha", state: "failed", error: unreachable },
        },
      });
      await page.getByText("9,999,999").waitFor();
      t.same(await row.boundingBox(), before);
      await page.mouse.move(2, 2);
      await until(
        async () =>
          (
            await page.locator(".pool .toggle").first().textContent()
          )?.trim() === "Alpha",
      );
    });

    t.test("theme and language are stored in the browser", async (t) => {
      const { page, consoleErrors } = await visit(t, livePools());
      await page.getByRole("button", { name: /Theme: System/ }).click();
      await page.getByRole("button", { name: /Theme: Light/ }).click();
      await page.getByLabel("Language").selectOption("de");
      await page.getByText("Änderungen/s").waitFor();
      await page.reload();
      await page.getByText("Änderungen/s").waitFor();
      const html = page.locator("html");
      t.equal(await html.getAttribute("data-theme"), "dark");
      t.equal(await html.getAttribute("lang"), "de");
      t.same(consoleErrors, []);
    });

    t.test("360 pixels are wide enough", async (t) => {
      const { page } = await visit(t, faultyPools());
      await page.setViewportSize({ width: 360, height: 740 });
      await page.getByRole("button", { name: "Oslo" }).click();
      const over = await page.evaluate(
        () => document.documentElement.scrollWidth - window.innerWidth,
      );
      t.equal(over, 0);
    });
  },
);

const unreachable = {
  code: "UNREACHABLE",
  message: "10.0.0.1 cannot be reached",
};

/** The page of a new user on a scripted server; both end with the test. */
async function open(
  t: Test,
  browser: Browser,
  status: ScriptedStatus,
): Promise<{ page: Page; server: ScriptedServer; consoleErrors: string[] }> {
  const server = await startScriptedServer(webRoot, status);
  t.teardown(() => server.stop());
  const context = await browser.newContext({ locale: "en-US" });
  t.teardown(() => context.close());
  const page = await context.newPage();
  const consoleErrors = consoleErrorsOf(page);
  await page.goto(`${server.url}#/status`);
  await page
    .locator("main")
    .getByRole("heading", { level: 2 })
    .first()
    .waitFor();
  return { page, server, consoleErrors };
}

/**
 * Runs in the page: records which rows are rendered again from now on, except for
 * their histories.
 */
function countMutations(): { rows: Set<Element> } {
  const counter = { rows: new Set<Element>() };
  new MutationObserver((records) => {
    for (const { target } of records) {
      const element = target instanceof Element ? target : target.parentElement;
      const row = element?.closest(".pool");
      if (row && !element?.closest("svg, time")) counter.rows.add(row);
    }
  }).observe(document.body, {
    subtree: true,
    characterData: true,
    childList: true,
    attributes: true,
  });
  return counter;
}

/** Waits until the list has this number of rows. */
async function rows(page: Page, count: number): Promise<void> {
  await page.waitForFunction(
    (count) => document.querySelectorAll(".pool").length === count,
    count,
  );
}

/** Polls, because no event reports it; the time limit of the test ends it. */
async function until(
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  while (!(await condition())) await new Promise((r) => setTimeout(r, 25));
}
