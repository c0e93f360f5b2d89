/// <reference lib="dom" />
import type { VmPlacement } from "@xo-server/placement";
import t from "tap";
import {
  startStorageBench,
  type Row,
  type StorageBench,
} from "../storage-bench.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

/** Two VMs on one host that can also run on other hosts. */
async function pairOf({ admin, list }: StorageBench): Promise<[Row, Row]> {
  const byHost = new Map<unknown, Row>();
  for (const vm of await list("vms", "power_state:Running")) {
    const { candidates } = await admin.request<VmPlacement>(
      "placement.placeVm",
      {
        vm: vm.id,
      },
    );
    const able = candidates.filter(({ refusals }) => refusals.length === 0);
    if (able.length < 2) continue;
    const other = byHost.get(vm["$container"]);
    if (other !== undefined) return [other, vm];
    byHost.set(vm["$container"], vm);
  }
  throw new Error("no two VMs of one host can move");
}

t.test("placement recommendations", { skip, ...LIMIT }, async (t) => {
  const bench = await startStorageBench(t);
  const { admin, list, url } = bench;
  const pair = await pairOf(bench);
  const names = pair.map((vm) => String(vm["name_label"]));
  const browser = await openBrowser(t);
  const { page, consoleErrors } = await openPage(t, {
    browser,
    url,
    path: "/placement/rules",
    cookie: admin.cookie,
  });
  const tab = async (label: string) => {
    const parts = page.getByRole("navigation", { name: "Placement sections" });
    await parts.getByRole("link", { name: label }).click();
    const current = parts.locator('[aria-current="page"]');
    await current.filter({ hasText: label }).waitFor();
  };
  const press = (label: string) =>
    page.getByRole("button", { name: label }).click();

  await t.test("a rule is created and lists its violations", async (t) => {
    await press("Add rule");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Select at least two VMs.").waitFor();
    await dialog.getByLabel("Name").fill("Not both at once");
    for (const one of names) {
      await dialog.getByPlaceholder("Search VMs").fill(one);
      await dialog.getByRole("checkbox", { name: one, exact: true }).check();
    }
    await checkViews(t, page, "the form of a rule");
    await dialog.getByRole("button", { name: "Save" }).click();
    const row = page.getByRole("row", { name: "Not both at once" });
    await row.getByText("2 VMs in violation").waitFor();
    await checkViews(t, page, "rules");
  });

  await t.test("the correction is shown, explained and applied", async (t) => {
    const row = page.getByRole("row", { name: "Not both at once" });
    await row.getByRole("link", { name: "Show corrections" }).click();
    const moves = page.getByRole("listitem").filter({ hasText: /Why\?/ });
    const own = moves.filter({ hasText: new RegExp(names.join("|")) });
    await own.first().waitFor();
    await checkViews(t, page, "recommendations");

    await own.first().getByRole("button", { name: "Why?" }).click();
    await page.getByRole("dialog").getByText("Best", { exact: true }).waitFor();
    await checkViews(t, page, "why");
    await page.keyboard.press("Escape");

    // None but those of the rule.
    await page
      .getByRole("checkbox", { name: /migrations? selected/ })
      .uncheck();
    await page
      .getByText("The plan is not updated while migrations are selected.")
      .waitFor();
    t.ok(await page.getByRole("button", { name: "Apply…" }).isDisabled());
    await own.first().getByRole("checkbox").check();
    await press("Apply…");
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /^Run/ })
      .click();
    await page.getByText(/migrations? completed/).waitFor();
    const ids = pair.map(({ id }) => `id:${id}`).join(" ");
    const now = await list("vms", `|(${ids})`);
    t.not(now[0]!["$container"], now[1]!["$container"], "they are apart");

    await tab("Rules");
    await row.getByText("Compliant").waitFor();
  });

  await t.test("a host that is to be empty is planned for", async (t) => {
    await page.goto(`${url}/#/placement/recommendations?goal=evacuate`);
    await page.getByText("Select the hosts to evacuate").waitFor();
    await page
      .getByRole("group", { name: "Hosts to evacuate" })
      .getByRole("checkbox")
      .first()
      .check();
    await page
      .getByText(/is evacuated;/)
      .first()
      .waitFor();
    t.match(page.url(), /hosts=/);
    await checkViews(t, page, "an evacuation");
  });

  await t.test(
    "enabling automatic migrations needs a confirmation",
    async (t) => {
      await tab("Load balancer");
      const save = page.getByRole("button", { name: "Save" });
      t.ok(await save.isDisabled(), "nothing is changed");
      await page.getByLabel("Parallel migrations").fill("99");
      await page.getByText("Must be between 1 and 16.").waitFor();
      t.ok(await save.isDisabled());
      await page.getByLabel("Parallel migrations").fill("1");
      await page.getByRole("radio", { name: /^Automatic/ }).check();
      await checkViews(t, page, "automatic");
      await save.click();
      const dialog = page.getByRole("dialog", {
        name: "Enable automatic migrations?",
      });
      await dialog
        .getByText("At most 5 migrations per run, 1 in parallel.")
        .waitFor();
      await checkViews(t, page, "the question before");
      await dialog.getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("radio", { name: /^Dry run/ }).check();
      await save.click();
      await page.getByText("Load balancer settings saved").waitFor();
      const pool = (await list("pools"))[0]!.id;
      t.match(await admin.request("balancer.getPolicy", { pool }), {
        mode: "dry-run",
        parallel: 1,
        cpuHigh: 0.85,
      });
    },
  );

  await t.test("a dry run is in the history", async (t) => {
    await press("Start dry run");
    await page.getByText(/would be migrated\. See/).waitFor();
    await tab("History");
    await page.getByRole("main").getByText("Dry run").first().waitFor();
    await checkViews(t, page, "history");
  });

  t.same(
    consoleErrors.filter((text) => !text.includes("Failed to load resource")),
    [],
  );
});
