/// <reference lib="dom" />
import type { Locator } from "playwright-core";
import t, { type Test } from "tap";
import { startStorageBench } from "../storage-bench.js";
import { violations } from "./axe.js";
import { narrow, openPage, wide } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 180_000 };
t.comment("timeout=180000");
const skip = noBrowserReason() ?? false;

t.test("filters on the page of VMs", { skip, ...LIMIT }, async (t) => {
  const bench = await startStorageBench(t);
  const { admin, list, url } = bench;
  const browser = await openBrowser(t);
  const [pool] = await list("pools");
  const count = async (filter: string) => (await list("vms", filter)).length;

  const open = async (t: Test, view = wide) => {
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path: "/vms",
      cookie: admin.cookie,
      view,
    });
    const field = page.getByRole("combobox", { name: "Filter" });
    const options = page.getByRole("listbox", { name: "Completions" });
    const shows = (total: number) =>
      page.getByText(`${String(total)} objects`, { exact: true }).waitFor();
    await shows(60);
    return { page, field, options, shows, consoleErrors };
  };

  t.test("by keyboard, from property to value", async (t) => {
    const { page, field, options, shows, consoleErrors } = await open(t);
    await field.focus();
    await page.keyboard.type("pow");
    await options.getByText("power_state", { exact: true }).waitFor();
    await page.keyboard.press("ArrowDown");
    const active = await field.getAttribute("aria-activedescendant");
    t.ok(active, "the field announces which line is selected");
    t.equal(
      await page.locator(`[id="${active!}"]`).getAttribute("aria-selected"),
      "true",
    );
    await page.keyboard.press("Enter");
    t.equal(await field.inputValue(), "power_state:");
    await page.keyboard.type("ha");
    // Of the known values only this one matches; its count comes from the server.
    await lists(options, `Halted${String(await count("power_state:Halted"))}`);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    t.equal(await field.inputValue(), "power_state:Halted ");
    await shows(await count("power_state:Halted"));
    await page.keyboard.press("Escape");
    t.equal(await field.inputValue(), "");
    await shows(60);
    t.same(consoleErrors, []);
  });

  t.test("words, values of the server, and names of ids", async (t) => {
    const { page, field, options, shows } = await open(t);
    await field.fill("db-prod");
    await shows(await count("name_label:db-prod"));
    await field.fill("");
    await field.pressSequentially("tags:");
    await options.getByText("backup-daily").click();
    await shows(await count("tags:backup-daily"));
    await field.pressSequentially("$pool:");
    // Until the pools are loaded, the list still contains names of properties.
    await lists(options, String(pool!["name_label"]));
    await options.getByRole("option").first().click();
    t.match(
      await field.inputValue(),
      /^tags:backup-daily \$pool:[0-9a-f-]{36} $/,
    );
    await page.getByText(/^Pool = ./).waitFor();
    await shows(await count("tags:backup-daily"));
  });

  t.test("an invalid filter is reported, and the last one stays", async (t) => {
    const { page, field, shows } = await open(t);
    const halted = await count("power_state:Halted");
    await field.fill("power_state:Halted");
    await shows(halted);
    await field.pressSequentially(" ) x");
    const alert = page.getByRole("alert");
    await alert.getByText(/Character 20: found “\)”/).waitFor();
    t.equal(await field.getAttribute("aria-invalid"), "true");
    await shows(halted);
    await field.fill("power_state:Halted (");
    await alert.waitFor({ state: "detached" });
    await page.keyboard.press("Tab");
    await alert.getByText(/Incomplete/).waitFor();
    await shows(halted);
  });

  t.test("the form writes the text, and the text fills the form", async (t) => {
    const { page, field, shows } = await open(t);
    await field.fill("power_state:Running");
    await page.getByRole("button", { name: "Build a filter with" }).click();
    const dialog = page.getByRole("dialog", { name: "Build a filter" });
    const last = (name: string) =>
      dialog.getByLabel(name, { exact: true }).last();
    t.equal(await last("Property").inputValue(), "power_state");
    t.equal(await last("Value").inputValue(), "Running");
    await dialog.getByRole("button", { name: "Add condition" }).click();
    await last("Property").selectOption({ label: "Memory" });
    await last("Value").fill("4");
    const filter = "power_state:Running memory:size:>=4GiB";
    await dialog.getByText(filter, { exact: true }).waitFor();
    await dialog.getByText(`${String(await count(filter))} match`).waitFor();
    await dialog.getByRole("button", { name: "Apply filter" }).click();
    await shows(await count(filter));
    t.equal(await field.inputValue(), filter);

    await page.getByRole("button", { name: "Build a filter with" }).click();
    await dialog.getByRole("button", { name: "Add condition" }).click();
    await last("Property").selectOption({ label: "Pool" });
    await last("Value").fill("no such pool");
    const apply = dialog.getByRole("button", {
      name: "Apply filter",
      disabled: true,
    });
    await apply.waitFor();
    await dialog.getByRole("alert").getByText("no such pool").waitFor();
    const { name_label: pool, id } = (await list("pools"))[0]!;
    await last("Value").fill(String(pool).toUpperCase());
    await apply.waitFor({ state: "detached" });
    await dialog.getByText(`$pool:${id}`).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();

    await field.fill("!(a b)");
    await page.getByRole("button", { name: "Build a filter with" }).click();
    await dialog.getByText("cannot represent").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    t.equal(await field.inputValue(), "!(a b)");
  });

  for (const view of [wide, narrow])
    t.test(
      `axe: ${view.colorScheme}, ${String(view.width)} wide`,
      async (t) => {
        const { page, field, options } = await open(t, view);
        await field.pressSequentially("power_state:");
        await options.waitFor();
        t.same(await violations(page), [], "completion");
        await field.fill("a ) b");
        await page.getByRole("alert").waitFor();
        t.same(await violations(page), [], "an error");
        await field.fill("tags:a |(b now.cpu:>0.5)");
        await page.getByRole("button", { name: "Build a filter with" }).click();
        await page.getByText(/^\d+ match$/).waitFor();
        t.same(await violations(page), [], "the form");
      },
    );
});

/** Waits until the completions are one line with these words. */
async function lists(options: Locator, words: string): Promise<void> {
  const lines = options.getByRole("option");
  while ((await lines.allTextContents()).join("|") !== words) continue;
}
