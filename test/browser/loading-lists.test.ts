/// <reference lib="dom" />
import t from "tap";
import {
  consoleErrorsOf,
  noBrowserReason,
  openBrowser,
  webRoot,
} from "./chromium.js";
import { livePools, loadingPools } from "./scenarios.js";
import { startScriptedServer } from "./scripted-server.js";

// The runner reads the limit of a file, in ms, from a comment.
t.comment("timeout=120000");
const skip = noBrowserReason() ?? false;

const vm = (id: string) => ({ id, type: "VM", name_label: id });
const rowsOf = (ids: readonly string[]) => ({
  revision: ids.length,
  total: ids.length,
  offset: 0,
  digest: "",
  objects: Object.fromEntries(ids.map((id) => [id, vm(id)])),
  patches: {},
});

t.test("a list of pools that are being loaded", { skip }, async (t) => {
  let name = "";
  let count = 0;
  const requests: string[] = [];
  const server = await startScriptedServer(webRoot, loadingPools(), {
    "query.open": (params) => {
      if (params["type"] !== "VM") return rowsOf([]);
      requests.push("rows");
      name = String(params["name"]);
      const splice = { at: 0, remove: 0, insert: ["web"] };
      return { ...rowsOf(["web"]), splice, complete: false };
    },
    "query.count": () => {
      requests.push("count");
      return count;
    },
    "query.group": () => ({ total: 0, groups: [] }),
  });
  t.teardown(() => server.stop());
  const browser = await openBrowser(t);
  const context = await browser.newContext({ locale: "en-GB" });
  t.teardown(() => context.close());
  const { url } = server;
  await context.addCookies([{ name: "authenticationToken", value: "t", url }]);
  const page = await context.newPage();
  // Polling would hide that nothing is requested after a change of the list.
  await page.addInitScript(() => {
    Object.assign(window, { setInterval: () => 0 });
  });
  const consoleErrors = consoleErrorsOf(page);
  await page.goto(`${url}#/vms`);
  const title = page.getByRole("main").locator("header");
  await title.getByText("1 object so far", { exact: true }).waitFor();
  await title.getByText(/^Loading pools: \d of \d$/).waitFor();

  const all = page.getByRole("main").locator(".chips .chip").first();
  await all.getByText("0", { exact: true }).waitFor();

  t.equal(requests[0], "rows", "rows do not wait for counts");

  count = 2;
  server.show(livePools());
  await title.getByText("Still loading", { exact: true }).waitFor();
  const splice = { at: 1, remove: 0, insert: ["mail"] };
  server.notify("query", {
    ...rowsOf(["mail"]),
    name,
    total: 2,
    splice,
    complete: true,
  });
  await title.getByText("2 objects", { exact: true }).waitFor();
  t.equal(await title.locator(".incomplete").count(), 0);
  await all.getByText("2", { exact: true }).waitFor();
  t.same(consoleErrors, []);
});
