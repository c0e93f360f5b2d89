/// <reference lib="dom" />
import t from "tap";
import {
  consoleErrorsOf,
  noBrowserReason,
  openBrowser,
  webRoot,
} from "./chromium.js";
import { livePools } from "./scenarios.js";
import { startScriptedServer } from "./scripted-server.js";

// The runner reads the limit of a file, in ms, from a comment.
t.comment("timeout=120000");
const skip = noBrowserReason() ?? false;

/** Two more than can be selected one by one. */
const TOTAL = 10_002;
const vmAt = (index: number) => {
  const id = `vm-${String(index).padStart(5, "0")}`;
  return { id, type: "VM", name_label: id, power_state: "Halted" };
};
const vms = Array.from({ length: TOTAL }, (_, index) => vmAt(index));

t.test("rows are left out of a selection of all", { skip }, async (t) => {
  const server = await startScriptedServer(webRoot, livePools(), {
    "query.open": ({ type, limit }) => {
      const shown = type === "VM" ? vms.slice(0, Number(limit)) : [];
      return {
        revision: 1,
        total: type === "VM" ? TOTAL : 0,
        offset: 0,
        digest: "",
        objects: Object.fromEntries(shown.map((vm) => [vm.id, vm])),
        patches: {},
        splice: { at: 0, remove: 0, insert: shown.map(({ id }) => id) },
        complete: true,
      };
    },
    "query.page": ({ limit, after }) => {
      const at = Number(after ?? 0);
      const next = at + Number(limit);
      const rows = vms.slice(at, next);
      return next < TOTAL ? { rows, next: String(next) } : { rows };
    },
    "query.count": () => TOTAL,
    "query.group": () => ({ total: 0, groups: [] }),
  });
  t.teardown(() => server.stop());
  const browser = await openBrowser(t);
  const context = await browser.newContext({ locale: "en-GB" });
  t.teardown(() => context.close());
  const { url } = server;
  await context.addCookies([{ name: "authenticationToken", value: "t", url }]);
  const page = await context.newPage();
  const consoleErrors = consoleErrorsOf(page);
  await page.goto(`${url}#/vms`);
  const grid = page.getByRole("grid");
  const box = (name: string) =>
    grid.getByRole("checkbox", { name: `Select ${name}`, exact: true });
  const selection = page.getByRole("region", { name: "Selection" });

  await box(vmAt(0).id).waitFor();
  await grid.getByRole("checkbox", { name: "Select all" }).click();
  await selection.getByText("All 10,002 matching objects selected").waitFor();
  t.equal(await box(vmAt(0).id).isChecked(), true);
  await selection.getByText("More than 10,000 selected").waitFor();

  await box(vmAt(3).id).click();
  await selection
    .getByText("All matching objects except 1 selected: 10,001")
    .waitFor();
  t.equal(await box(vmAt(3).id).isChecked(), false);
  t.equal(await box(vmAt(4).id).isChecked(), true);
  await box(vmAt(3).id).click();
  await selection.getByText("All 10,002 matching objects selected").waitFor();

  // With no more than 10,000 left, they are objects on which actions work.
  await box(vmAt(3).id).click();
  await box(vmAt(5).id).click();
  await selection.getByText("10,000 selected", { exact: true }).waitFor();
  t.equal(await selection.getByText("More than 10,000").count(), 0);
  for (const [index, isChecked] of [
    [2, true],
    [3, false],
    [4, true],
    [5, false],
  ] as const)
    t.equal(await box(vmAt(index).id).isChecked(), isChecked, `row ${index}`);
  t.same(consoleErrors, []);
});
