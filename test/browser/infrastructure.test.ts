/// <reference lib="dom" />
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { startStorageBench } from "../storage-bench.js";
import { violations } from "./axe.js";
import { fitsWindow, narrow, openPage, wide } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

t.test("hosts, pools, storage and networks", { skip, ...LIMIT }, async (t) => {
  const { admin, list, url } = await startStorageBench(t);
  const first = async (folder: string, filter = "") =>
    (await list(folder, filter))[0]!;
  const pool = await first("pools");
  const host = await first("hosts", `id:${String(pool["master"])}`);
  const nfs = await first("srs", "SR_type:nfs content_type:user");
  const vlan = await first("pifs", `vlan:>0 $host:${host.id}`);
  const network = await first("networks", `id:${String(vlan["$network"])}`);
  const nameOf = (row: object) =>
    String((row as Record<string, unknown>)["name_label"]);
  const browser = await openBrowser(t);

  const open = async (t: Test, path: string, view = wide) => {
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path,
      cookie: admin.cookie,
      view,
    });
    await page.getByRole("heading", { level: 1 }).waitFor();
    return { page, consoleErrors };
  };
  /** Waits until the server returns this value for a field of an object. */
  const untilSet = async (
    folder: string,
    filter: string,
    words: string,
  ): Promise<void> => {
    while ((await list(folder, filter)).length === 0) continue;
    t.pass(words);
  };

  t.test("the diagram shows problems with links", async (t) => {
    const { page, consoleErrors } = await open(t, "/topology");
    await page.getByText("all networks are available").waitFor();
    const card = page.locator(".box", { hasText: nameOf(host) });
    await card.hover();
    const related = page.locator(".box.related");
    await related.nth(2).waitFor();
    t.pass("networks of the host are marked");
    t.equal(
      await page.locator(".box.related", { hasText: "xcp-" }).count(),
      1,
      "other hosts are not",
    );
    await page.mouse.move(0, 0);

    await admin.request("pif.disconnect", { id: vlan.id });
    const words = `${nameOf(network)} is disconnected on ${nameOf(host)}`;
    await page.getByText(words).waitFor();
    t.same(await violations(page), [], "with a finding");
    await page.getByRole("button", { name: "Table" }).click();
    const row = page.getByRole("row", { name: nameOf(network) });
    await row.getByText("Disconnected").waitFor();
    await admin.request("pif.connect", { id: vlan.id });
    await page.getByText("all networks are available").waitFor();

    await page.getByRole("button", { name: "Diagram" }).click();
    const vms = page.getByRole("button", {
      name: new RegExp(`in ${nameOf(network)}: show`),
    });
    await vms.focus();
    await page.keyboard.press("Enter");
    await page.locator(".line.host").first().click();
    const vm = page.locator(".line.vm a").first();
    const name = await vm.textContent();
    await vm.click();
    await page.getByRole("heading", { level: 1, name: name!.trim() }).waitFor();
    t.same(consoleErrors, []);
  });

  t.test("the storage map shows the usage of SRs", async (t) => {
    const { page, consoleErrors } = await open(t, "/storage-map");
    const tile = page.getByRole("button", { name: nameOf(nfs) });
    await tile.focus();
    await page.keyboard.press("Enter");
    t.equal(await tile.getAttribute("aria-pressed"), "true");
    await tile.getByText(/3 of 3 hosts connected/).waitFor();
    const about = page.getByRole("complementary", {
      name: `Usage of ${nameOf(nfs)}`,
    });
    await about.getByRole("row").nth(1).waitFor();
    await about
      .getByText(/\d images?$/)
      .first()
      .waitFor();
    await about.getByRole("link", { name: nameOf(nfs) }).click();
    await heading(page, nameOf(nfs)).waitFor();
    t.same(consoleErrors, []);
  });

  t.test("a host: its settings, its interfaces, its memory", async (t) => {
    const { page, consoleErrors } = await open(t, `/hosts/${host.id}`);
    await page.getByText("Pool coordinator").waitFor();
    const tabs = page.locator("nav.tabs");
    const height = () => tabs.evaluate((bar) => bar.clientHeight);
    const before = await height();
    await page.setViewportSize({ width: 1000, height: 900 });
    t.ok(
      await tabs.evaluate((bar) => bar.scrollWidth > bar.clientWidth),
      "not all tabs fit",
    );
    t.equal(await height(), before, "no scroll bar moves the page");
    await page.setViewportSize({ width: wide.width, height: 900 });
    const vms = await list("vms", `$container:${host.id}`);
    t.ok(
      vms.some(({ id }) => id.length > 0),
      "VMs run there",
    );
    await page.locator(".legend a").first().waitFor();

    await tab(page, "Network");
    const row = page.getByRole("row", { name: nameOf(network) });
    await row.getByRole("button").click();
    await page.getByRole("menuitem", { name: /^Disconnect/ }).click();
    await page
      .getByRole("dialog")
      .getByRole("button", { name: "Disconnect" })
      .click();
    await row.getByText("Disconnected").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await row.getByText("Connected", { exact: true }).waitFor();

    await tab(page, "Advanced");
    await page.getByRole("switch", { name: "Multipathing" }).click();
    const filter = `id:${host.id} multipathing?`;
    await untilSet("hosts", filter, "the pool knows it");
    t.same(consoleErrors, []);
  });

  t.test("a pool: its capacity and defaults", async (t) => {
    const { page, consoleErrors } = await open(t, `/pools/${pool.id}`);
    await page.getByText(/vCPUs of running VMs on 96 cores/).waitFor();
    await page.getByText("Disabled: VMs of a failed host").waitFor();
    const other = await first(
      "srs",
      `!id:${nfs.id} !id:${String(pool["default_SR"])} shared? !content_type:iso`,
    );
    await page
      .getByRole("combobox", { name: "Default SR" })
      .selectOption({ label: nameOf(other) });
    const filter = `id:${pool.id} default_SR:${other.id}`;
    await untilSet("pools", filter, "the pool has another default SR");
    await tab(page, "Storage");
    await page.getByRole("grid").getByText(nameOf(nfs)).waitFor();
    t.equal(await page.getByText("DVD drives").count(), 0);
    t.same(consoleErrors, []);
  });

  t.test("an SR: XAPI's refusals are shown in its words", async (t) => {
    const { page } = await open(t, `/srs/${nfs.id}`);
    const row = page.getByRole("row", { name: nameOf(host) });
    await row.getByRole("button").click();
    await page.getByRole("menuitem", { name: /^Disconnect/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Disconnect" }).click();
    // Disks of VMs that run there are in use.
    await dialog.getByText("VDI in use").waitFor();
    t.pass("the server's words are shown");
    await page.keyboard.press("Escape");
    await row.getByText("Connected", { exact: true }).waitFor();
    await tab(page, "Chains");
    await page
      .getByText(/\d images?$/)
      .first()
      .waitFor();
  });

  t.test("a network: its hosts, its VMs, its settings", async (t) => {
    const { page, consoleErrors } = await open(t, `/networks/${network.id}`);
    await page.getByText("Available on every host of the pool").waitFor();
    await page.getByRole("row").nth(3).waitFor();
    t.equal(await page.getByRole("row").count(), 4, "a line a host");
    await page.getByRole("switch", { name: /^Add to new VMs/ }).click();
    const filter = `id:${network.id} automatic?`;
    await untilSet("networks", filter, "the pool knows it");
    await tab(page, "VMs");
    await page.locator("td a").first().waitFor();
    t.same(consoleErrors, []);
  });

  for (const view of [wide, narrow])
    t.test(`no accessibility violations: ${view.colorScheme}`, async (t) => {
      const { page } = await open(t, "/topology", view);
      await page.getByText("all networks are available").waitFor();
      const pages: [string, string][] = [
        ["/topology", "all networks are available"],
        ["/storage-map", "Snapshot chains"],
        [`/hosts/${host.id}`, "Pool coordinator"],
        [`/hosts/${host.id}/network`, "Interfaces (PIFs)"],
        [`/hosts/${host.id}/storage`, nameOf(nfs)],
        [`/hosts/${host.id}/devices`, "PCI devices"],
        [`/hosts/${host.id}/advanced`, "Power-on mode"],
        [`/pools/${pool.id}`, "CPU usage"],
        [`/srs/${nfs.id}`, "Largest disks"],
        [`/networks/${network.id}`, "Available on every host"],
        [`/networks/${network.id}/vms`, "VM interfaces"],
      ];
      for (const [path, words] of pages) {
        await page.goto(`${url}/#${path}`);
        await page.getByText(words).first().waitFor();
        t.same(await violations(page), [], path);
        t.ok(await fitsWindow(page), `${path} is not wider than the window`);
      }
    });
});

const heading = (page: Page, name: string) =>
  page.getByRole("heading", { level: 1 }).getByText(name, { exact: true });

async function tab(page: Page, name: string): Promise<void> {
  const tabs = page.getByRole("navigation", { name: "Sections of this page" });
  await tabs.getByRole("link", { name: new RegExp(`^${name}`) }).click();
}
