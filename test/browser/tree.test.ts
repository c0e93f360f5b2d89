/// <reference lib="dom" />
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { startStorageBench } from "../storage-bench.js";
import { violations } from "./axe.js";
import { openPage, wide } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 180_000 };
t.comment("timeout=180000");
const skip = noBrowserReason() ?? false;

t.test("the tree in the side bar", { skip, ...LIMIT }, async (t) => {
  const bench = await startStorageBench(t);
  const { admin, list, server, url } = bench;
  const nameOf = (row: Readonly<Record<string, unknown>>) =>
    String(row["name_label"]);
  const hosts = await list("hosts");
  const [host] = hosts.sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
  const vms = await list("vms", `$container:${host!.id}`);
  const hostName = nameOf(host!);
  const names = vms.map(nameOf).sort();
  const browser = await openBrowser(t);

  const open = async (t: Test, path = "/status", view = wide) => {
    const prepare = (page: Page) =>
      page.addInitScript(() => {
        localStorage.setItem("side-bar", "tree");
      });
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path,
      cookie: admin.cookie,
      view,
      prepare,
    });
    const tree = page.getByRole("tree", { name: "Pools, hosts and VMs" });
    const item = (text: string) =>
      tree.getByRole("treeitem").filter({ hasText: text });
    await item(hostName).waitFor();
    return { page, tree, item, consoleErrors };
  };

  t.test("by keyboard: a host is opened, and a VM of it", async (t) => {
    const { page, tree, item, consoleErrors } = await open(t);
    await tree.focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    const active = async () => {
      const id = await tree.getAttribute("aria-activedescendant");
      return page.locator(`[id="${id!}"]`);
    };
    const first = await active();
    t.match(await first.textContent(), hostName);
    t.equal(await first.getAttribute("aria-level"), "2");
    t.equal(await first.getAttribute("aria-expanded"), "false");
    await page.keyboard.press("ArrowRight");
    await item(names[0]!).waitFor();
    t.equal(await first.getAttribute("aria-expanded"), "true");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    const vm = vms.find(({ name_label }) => name_label === names[0])!;
    await page.waitForURL(`${url}/#/vms/${vm.id}`);
    t.equal(await (await active()).getAttribute("aria-current"), "page");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await item(names[0]!).waitFor({ state: "detached" });
    t.same(consoleErrors, []);
  });

  t.test("the page's object is expanded and shown", async (t) => {
    const vm = vms.find(({ name_label }) => name_label === names.at(-1))!;
    const { page, item } = await open(t, `/vms/${vm.id}`);
    await item(names.at(-1)!)
      .and(page.locator('[aria-current="page"]'))
      .waitFor();
  });

  t.test("a search covers all types; grouping is persisted", async (t) => {
    const { page, tree, item } = await open(t);
    const search = page.getByLabel("Search all objects");
    await search.fill(hostName);
    await tree.getByText("hosts", { exact: true }).waitFor();
    await item(hostName).waitFor();
    await search.fill("nobody is called so");
    await page.getByText("No matching objects.").waitFor();
    await search.fill("");
    await page.getByRole("button", { name: /^Grouping/ }).click();
    await page.getByRole("menuitem", { name: "By tag" }).click();
    await item("backup-daily").waitFor();
    await page.reload();
    await item("backup-daily").waitFor();
  });

  t.test("changes of the pool are shown, also of names", async (t) => {
    const { item } = await open(t);
    await item(hostName).locator(".expander").click();
    await item(names[0]!).waitFor();
    const vm = vms.find(({ name_label }) => name_label === names[0])!;
    const name_label = "0 renamed";
    await admin.request("vm.set", { id: vm.id, name_label });
    await item(name_label).waitFor();
    await admin.request("vm.set", { id: vm.id, name_label: names[0] });
  });

  for (const view of [wide, { ...wide, colorScheme: "dark" as const }])
    t.test(`no accessibility violations: ${view.colorScheme}`, async (t) => {
      const { page, tree, item } = await open(t, "/status", view);
      await item(hostName).locator(".expander").click();
      await item(names[0]!).waitFor();
      await tree.focus();
      t.same(await violations(page), []);
    });

  t.test("without the server the tree stays as it was", async (t) => {
    const { page, item } = await open(t);
    await item(hostName).locator(".expander").click();
    await item(names[0]!).waitFor();
    server.child.kill("SIGKILL");
    await page.getByRole("button", { name: "Retry now" }).waitFor();
    t.equal(await item(names[0]!).count(), 1);
  });
});
