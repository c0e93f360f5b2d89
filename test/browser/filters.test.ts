/// <reference lib="dom" />
import t, { type Test } from "tap";
import { startStorageBench } from "../storage-bench.js";
import { violations } from "./axe.js";
import { serveBuilt } from "./built-page.js";
import { complaintsOf, noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 180_000 };
t.comment("timeout=180000");
const skip = noBrowserReason() ?? false;

t.test("filters on the page of VMs", { skip, ...LIMIT }, async (t) => {
  const bench = await startStorageBench(t);
  const { admin, list, url } = bench;
  const browser = await openBrowser(t);
  const count = async (filter: string) => (await list("vms", filter)).length;

  const open = async (t: Test, view = { scheme: "light", width: 1440 }) => {
    const context = await browser.newContext({
      colorScheme: view.scheme as "light" | "dark",
      reducedMotion: "reduce",
      viewport: { width: view.width, height: 900 },
    });
    t.teardown(() => context.close());
    const [name = "", value = ""] = admin.cookie.split("=");
    await context.addCookies([{ name, value, url }]);
    await serveBuilt(context, url);
    const page = await context.newPage();
    const complaints = complaintsOf(page);
    await page.goto(`${url}/#/vms`);
    const field = page.getByRole("combobox", { name: "Filter" });
    const options = page.getByRole("listbox", { name: "Completions" });
    const shows = (total: number) =>
      page.getByText(`${String(total)} objects`, { exact: true }).waitFor();
    await shows(60);
    return { page, field, options, shows, complaints };
  };

  t.test("by keyboard, from property to value", async (t) => {
    const { page, field, options, shows, complaints } = await open(t);
    await field.focus();
    await page.keyboard.type("pow");
    await options.getByText("power_state", { exact: true }).waitFor();
    await page.keyboard.press("ArrowDown");
    const active = await field.getAttribute("aria-activedescendant");
    t.ok(active, "the field says which line is chosen");
    t.equal(
      await page.locator(`[id="${active!}"]`).getAttribute("aria-selected"),
      "true",
    );
    await page.keyboard.press("Enter");
    t.equal(await field.inputValue(), "power_state:");
    await shows(60);
    await page.keyboard.type("ha");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    t.equal(await field.inputValue(), "power_state:Halted ");
    await shows(await count("power_state:Halted"));
    await page.keyboard.press("Escape");
    t.equal(await field.inputValue(), "");
    await shows(60);
    t.same(complaints, []);
  });

  t.test("words, values of the server, and what ids stand for", async (t) => {
    const { page, field, options, shows } = await open(t);
    await field.fill("db-prod");
    await shows(await count("name_label:db-prod"));
    await field.fill("");
    await field.pressSequentially("tags:");
    await options.getByText("backup-daily").click();
    await shows(await count("tags:backup-daily"));
    await field.pressSequentially("$pool:");
    await options.getByRole("option").first().click();
    t.match(
      await field.inputValue(),
      /^tags:backup-daily \$pool:[0-9a-f-]{36} $/,
    );
    await page.getByText(/^Pool = ./).waitFor();
    await shows(await count("tags:backup-daily"));
  });

  t.test(
    "what cannot be read is said, and the last filter holds",
    async (t) => {
      const { page, field, shows } = await open(t);
      const halted = await count("power_state:Halted");
      await field.fill("power_state:Halted");
      await shows(halted);
      await field.pressSequentially(" ) x");
      const alert = page.getByRole("alert");
      t.match(await alert.textContent(), /Character 20: found “\)”/);
      t.equal(await field.getAttribute("aria-invalid"), "true");
      await shows(halted);
      await field.fill("power_state:Halted (");
      await alert.waitFor({ state: "detached" });
      await page.keyboard.press("Tab");
      t.match(await alert.textContent(), /Incomplete/, "when it is left");
      await shows(halted);
    },
  );

  t.test("a form makes the text, and the text the form", async (t) => {
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
    const filter = "power_state:Running memory:size:>=4294967296";
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

  for (const view of [
    { scheme: "light", width: 1440 },
    { scheme: "dark", width: 390 },
  ])
    t.test(`axe: ${view.scheme}, ${String(view.width)} wide`, async (t) => {
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
    });
});
