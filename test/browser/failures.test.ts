/// <reference lib="dom" />
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { startStorageBench, type Row } from "../storage-bench.js";
import { violations } from "./axe.js";
import { narrow, openPage, wide } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

t.test("host failures", { skip, ...LIMIT }, async (t) => {
  const { admin, list, url } = await startStorageBench(t);
  const hosts = await list("hosts");
  const [first, second] = hosts.map(nameOf).sort() as [string, string];
  const idOf = (name: string) =>
    hosts.find((host) => nameOf(host) === name)!.id;
  const inFirst = await list(
    "vms",
    `$container:${idOf(first)} power_state:running`,
  );
  // Some VMs must restart, some restart if capacity remains, some do not restart.
  for (const [i, { id }] of inFirst.slice(0, 4).entries())
    await admin.request("vm.set", {
      id,
      high_availability: i < 2 ? "restart" : "best-effort",
    });
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
  const tile = (page: Page, name: string) =>
    page
      .getByRole("main")
      .getByRole("button", { name: new RegExp(`^${name}`) });

  t.test(
    "hosts are excluded by clicks, and the plan follows",
    LIMIT,
    async (t) => {
      const { page, main, consoleErrors } = await open(
        t,
        "/placement/failures",
      );
      await main.getByText(/^This pool (tolerates|does not)/).waitFor();
      await tile(page, first).click();
      const said = main.getByText(/^1 host fails: /);
      await said.waitFor();
      t.equal(await tile(page, first).getAttribute("aria-pressed"), "true");
      await page.waitForURL(new RegExp(`failed=${idOf(first)}`));
      const [, restart, not, lost] = numbersIn(await said.textContent());
      t.ok(restart! + not! >= 4, "those that are protected");
      t.equal(restart! + not! + lost!, inFirst.length, "every VM is counted");
      const plan = main.getByRole("region", {
        name: "Failover plan: restarts",
      });
      await plan
        .getByText(/^Restart order \d/)
        .first()
        .waitFor();
      const ways = plan.getByRole("listitem").filter({ hasNotText: "Order" });
      t.match(await ways.first().textContent(), first);
      await main.getByText("These VMs are not restarted").waitFor();

      await tile(page, second).focus();
      await page.keyboard.press("Space");
      await main.getByText(/^2 hosts fail: /).waitFor();
      await main.getByRole("button", { name: "Clear" }).click();
      await main.getByText(/^Select hosts/).waitFor();
      await page.waitForURL((url) => !url.hash.includes("failed="));
      await main.getByRole("button", { name: "Add a host failure" }).click();
      await main.getByText(/^1 host fails: /).waitFor();
      t.same(consoleErrors, []);
    },
  );

  t.test("the address contains the failed hosts", LIMIT, async (t) => {
    const failed = [first, second].map(idOf).join(",");
    const path = `/placement/failures?failed=${failed}`;
    const { page, main } = await open(t, path);
    await main.getByText(/^2 hosts fail: /).waitFor();
    t.equal(await tile(page, second).getAttribute("aria-pressed"), "true");
  });

  t.test(
    "more VMs than fit are simulated, and nothing is changed",
    LIMIT,
    async (t) => {
      const { main, consoleErrors } = await open(t, "/placement/failures");
      const card = main.getByRole("region", { name: "What if" });
      const before = (await list("vms")).length;
      await card
        .getByRole("combobox", { name: "Add change" })
        .selectOption({ label: "Add VMs" });
      await card.getByLabel("Number").fill("100");
      await card.getByLabel("Memory, GiB").fill("64");
      await card.getByRole("button", { name: "Add change" }).click();
      await card.getByText(/\d VMs? cannot be placed/).waitFor();
      await card
        .getByRole("row", { name: /Tolerated host failures/ })
        .filter({ hasText: /0 \((exact|bound)\)|0 to/ })
        .waitFor();
      await card.getByText(/of memory required/).waitFor();
      await card.getByRole("button", { name: /^Remove: Add 100 VMs/ }).click();
      await card.getByText("No changes.").waitFor();
      t.equal((await list("vms")).length, before);
      t.same(consoleErrors, []);
    },
  );

  t.test("the VM's page shows possible hosts and reasons", LIMIT, async (t) => {
    const [vm] = inFirst;
    const { page, main, consoleErrors } = await open(t, `/vms/${vm!.id}`);
    await main.getByRole("button", { name: "More", exact: true }).click();
    await page.getByRole("menuitem", { name: "Possible hosts" }).click();
    await page.waitForURL(/\/placement$/);
    const table = main.getByRole("table", {
      name: "Hosts for this VM",
    });
    const own = table.getByRole("row", { name: /Current host/ });
    await own.getByRole("link", { name: first }).waitFor();
    for (const host of hosts)
      await table.getByRole("link", { name: nameOf(host) }).waitFor();
    await main.getByText(/is a better host|is the best host/).waitFor();
    t.same(consoleErrors, []);
  });

  for (const view of [wide, narrow])
    t.test(
      `no accessibility violations: ${view.colorScheme}`,
      LIMIT,
      async (t) => {
        const path = `/placement/failures?failed=${idOf(first)}`;
        const { page, main } = await open(t, path, view);
        await main.getByText(/^1 host fails: /).waitFor();
        await main.getByText(/^This pool (tolerates|does not)/).waitFor();
        t.same(await violations(page), [], "failures");
        await page.goto(`${url}/#/vms/${inFirst[0]!.id}/placement`);
        await main.getByText("Current host", { exact: true }).waitFor();
        t.same(await violations(page), [], "where it can run");
      },
    );
});

function nameOf(row: Row): string {
  return String(row["name_label"]);
}

function numbersIn(text: string | null): number[] {
  return [...(text ?? "").matchAll(/\d+/g)].map(([number]) => Number(number));
}
