/// <reference lib="dom" />
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page, Route } from "playwright-core";
import t, { type Test } from "tap";
import { openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser, webRoot } from "./chromium.js";
import { livePools } from "./scenarios.js";
import { startScriptedServer } from "./scripted-server.js";

// The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");
const skip = noBrowserReason() ?? false;
const FILES = /\/assets\/|\/rest\/v0\/ping/;

t.test("files of an open page", { skip, ...LIMIT }, async (t) => {
  const browser = await openBrowser(t);

  async function open(t: Test) {
    const server = await startScriptedServer(webRoot, livePools(), {
      "query.open": () => ({
        revision: 1,
        total: 0,
        offset: 0,
        digest: "",
        objects: {},
        patches: {},
        splice: { at: 0, remove: 0, insert: [] },
        complete: true,
      }),
      "query.count": () => 0,
      "query.group": () => ({ total: 0, groups: [] }),
    });
    t.teardown(() => server.stop());
    const { page } = await openPage(t, {
      browser,
      url: server.url.slice(0, -1),
      path: "/vms",
      cookie: "authenticationToken=t",
    });
    const filter = page.getByPlaceholder("Search, or filter");
    await filter.fill("half typed");
    return { page, server, filter };
  }

  const toast = (page: Page, words: string) =>
    page.getByRole("log").getByRole("listitem").filter({ hasText: words });
  const backup = (page: Page) =>
    page.getByRole("link", { name: "Backup", exact: true });
  const heading = (page: Page) =>
    page.getByRole("heading", { name: "Backup", exact: true });

  t.test("a page opened while the server is gone waits for it", async (t) => {
    const { page, filter } = await open(t);
    let isGone = true;
    const loaded: string[] = [];
    await page.route(FILES, (route) => {
      if (isGone) return route.abort("connectionrefused");
      loaded.push(new URL(route.request().url()).pathname);
      return answer(route);
    });
    await backup(page).click();
    await toast(page, "Waiting for the server").waitFor();
    t.equal(await filter.inputValue(), "half typed");

    isGone = false;
    await heading(page).waitFor();
    await toast(page, "Waiting for the server").waitFor({ state: "detached" });
    t.ok(
      loaded.some((path) => /UiTabs.*\.css$/.test(path)),
      "style sheets are requested again",
    );
  });

  t.test("an update is reported when the server is back", async (t) => {
    const { page, server, filter } = await open(t);
    const updated = toast(page, "The server was updated");
    const answers = nextEntry(page);
    server.disconnect();
    await page.getByText("The server does not respond.").last().waitFor();
    server.reconnect();
    await answers;
    t.equal(await updated.count(), 0, "the same files: no update");

    const index = readFileSync(join(webRoot, "index.html"), "utf8");
    await page.route(
      (url) => url.pathname === "/",
      (route) =>
        route.fulfill({
          contentType: "text/html",
          body: index.replace(/index-[^."]+\.js/, "index-next.js"),
        }),
    );
    server.disconnect();
    await page.getByText("The server does not respond.").last().waitFor();
    server.reconnect();
    await updated.waitFor();
    t.equal(await filter.inputValue(), "half typed");
  });

  t.test("a page that an update has removed is offered again", async (t) => {
    const { page, filter } = await open(t);
    let isUpdated = true;
    await page.route(FILES, (route) => {
      const isFile = route.request().url().includes("BackupPage");
      return isUpdated && isFile
        ? route.fulfill({ status: 404 })
        : answer(route);
    });
    await backup(page).click();
    const missing = toast(page, "A part of the page could not be loaded");
    await missing.waitFor();
    t.equal(await filter.inputValue(), "half typed", "the open page stays");

    isUpdated = false;
    await missing.getByRole("button", { name: "Reload" }).click();
    await heading(page).waitFor();
  });
});

/** The scripted server has no ping. */
function answer(route: Route): Promise<void> {
  return route.request().url().endsWith("/ping")
    ? route.fulfill({ body: "{}" })
    : route.continue();
}

/** Resolves when the page has compared its files with those of the server. */
async function nextEntry(page: Page): Promise<void> {
  const answered = await page.waitForResponse(
    (response) => new URL(response.url()).pathname === "/",
  );
  await answered.finished();
  // A toast would be drawn with one of the next frames.
  await page.evaluate(
    () =>
      new Promise((resolve) => {
        requestAnimationFrame(() => requestAnimationFrame(resolve));
      }),
  );
}
