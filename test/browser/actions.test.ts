/// <reference lib="dom" />
import t, { type Test } from "tap";
import type { Page } from "playwright-core";
import { startStorageBench } from "../storage-bench.js";
import { violations } from "./axe.js";
import { narrow, openPage, wide, fitsWindow } from "./browser-page.js";
import { HeldAnswers } from "./held-answers.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 180_000 };
t.comment("timeout=180000");
const skip = noBrowserReason() ?? false;

t.test("actions on objects", { skip, ...LIMIT }, async (t) => {
  const bench = await setUp(t);

  t.test("a VM is started, and disabled actions show the reason", (t) =>
    startAndDisabledActions(t, bench),
  );

  t.test("several VMs are stopped as one operation with one toast", (t) =>
    stopOfSeveralVms(t, bench),
  );

  t.test(
    "a VM is migrated to the host with most free resources, and back",
    (t) => migrationAndBack(t, bench),
  );

  t.test("deletion needs the typed name, and lists the disks", (t) =>
    typedDeletion(t, bench),
  );

  t.test("VMs are created from a template", (t) => creationOfVms(t, bench));

  t.test("a user is offered only what their rights allow", (t) =>
    actionsOfLimitedUser(t, bench),
  );

  t.test("maintenance lists the VMs that cannot be migrated", (t) =>
    enteredMaintenance(t, bench),
  );

  t.test("the form is restored after a reload", (t) => restoredForm(t, bench));

  t.test("an action whose objects are read slowly is cancelled", (t) =>
    cancelledAction(t, bench),
  );

  t.test("accessible on any screen, in light and dark", (t) =>
    accessibility(t, bench),
  );
});

type Bench = Awaited<ReturnType<typeof setUp>>;

async function setUp(t: Test) {
  const { admin, addUser, list, url } = await startStorageBench(t);
  const browser = await openBrowser(t);

  const open = (t: Test, path: string, { view = wide, user = admin } = {}) =>
    openPage(t, { browser, url, path, cookie: user.cookie, view });
  const vmOf = async (filter: string) => {
    const [vm] = await list("vms", filter);
    return { id: vm!.id, name: String(vm!["name_label"]) };
  };
  /** A running VM whose disks are reachable from each host of its pool. */
  const sharedVm = async () => {
    const shared = new Set((await list("srs", "shared?")).map(({ id }) => id));
    const local = (await list("vdis"))
      .filter(({ $SR }) => !shared.has(String($SR)))
      .flatMap(({ $VBDs }) => $VBDs as string[]);
    const vms = await list("vms", "power_state:Running");
    const { id, name_label } = vms.find(({ $VBDs }) =>
      ($VBDs as string[]).every((vbd) => !local.includes(vbd)),
    )!;
    return { id, name: String(name_label) };
  };
  const until = async (id: string, filter: string) => {
    while ((await list("vms", `id:${id} ${filter}`)).length === 0) continue;
  };
  const bar = (page: Page) =>
    page.getByRole("group", { name: "Actions", exact: true }).first();
  const toast = (page: Page, text: string) =>
    page.getByRole("log").getByRole("listitem").filter({ hasText: text });
  return {
    vmOf,
    open,
    bar,
    toast,
    until,
    list,
    sharedVm,
    addUser,
    admin,
    browser,
    url,
  };
}

async function startAndDisabledActions(
  t: Test,
  { vmOf, open, bar, toast, until }: Bench,
) {
  const { id, name } = await vmOf("power_state:Halted");
  const { page, consoleErrors } = await open(t, `/vms/${id}`);
  const off = bar(page).getByRole("button", { name: /^Shut down/ });
  t.equal(await off.getAttribute("aria-disabled"), "true");
  t.match(await off.textContent(), /The VM is halted/);
  await bar(page).getByRole("button", { name: "Start" }).click();
  await toast(page, `Start: ${name}`).filter({ hasText: "Done" }).waitFor();
  await until(id, "power_state:Running");
  await bar(page)
    .getByRole("button", { name: /^Start/, disabled: true })
    .waitFor();
  t.same(consoleErrors, []);
}

async function stopOfSeveralVms(t: Test, { list, open, toast }: Bench) {
  const running = await list("vms", "power_state:Running");
  const some = running
    .map(({ name_label }) => String(name_label))
    .sort()
    .slice(0, 3);
  const query = `power_state:Running |(${some.map((name) => `name_label:/^${name}$/`).join(" ")})`;
  const { page, consoleErrors } = await open(
    t,
    `/vms?q=${encodeURIComponent(query)}`,
  );
  await page.getByRole("grid").locator(".row .object.name").nth(2).waitFor();
  await page.keyboard.press("Control+a");
  const selection = page.getByRole("region", { name: "Selection" });
  await selection.getByText("3 selected").waitFor();
  await selection.getByRole("button", { name: /^Suspend|^Reboot/ }).click();
  await page.getByRole("dialog").getByText(some[0]!).waitFor();
  await page.keyboard.press("Escape");
  t.equal(
    (await list("vms", query)).length,
    3,
    "actions that stop several VMs require a confirmation",
  );
  await selection.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: /Force shutdown/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(some[0]!).waitFor();
  await dialog.getByRole("button", { name: "Force shutdown" }).click();
  await toast(page, "Force shutdown: 3 VMs")
    .filter({ hasText: "All 3 done" })
    .waitFor();
  const bottom = (box: { y: number; height: number } | null) =>
    box!.y + box!.height;
  t.ok(
    bottom(await toast(page, "Force shutdown").boundingBox()) <=
      (await selection.boundingBox())!.y,
    "toasts leave the bar free",
  );
  for (const name of some)
    t.equal(
      (await list("vms", `name_label:/^${name}$/ power_state:Halted`)).length,
      1,
    );
  t.same(consoleErrors, []);
}

async function migrationAndBack(
  t: Test,
  { sharedVm, list, open, bar, toast }: Bench,
) {
  const { id, name } = await sharedVm();
  const homeOf = async () => (await list("vms", `id:${id}`))[0]!["$container"];
  const home = await homeOf();
  const { page, consoleErrors } = await open(t, `/vms/${id}`);
  await bar(page)
    .getByRole("button", { name: /^Migrate/ })
    .click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Recommended", { exact: true }).waitFor();
  t.match(await dialog.textContent(), /Current host/);
  t.same(await violations(page), []);
  await dialog.getByRole("button", { name: "Migrate" }).click();
  const notification = toast(page, `Migrate: ${name}`);
  await notification.getByRole("button", { name: "Undo" }).waitFor();
  t.not(await homeOf(), home);
  await notification.getByRole("button", { name: "Undo" }).click();
  await notification.filter({ hasText: "Undone" }).waitFor();
  t.equal(await homeOf(), home);
  t.same(consoleErrors, []);
}

async function typedDeletion(t: Test, { vmOf, open, bar, toast, list }: Bench) {
  const { id, name } = await vmOf("power_state:Halted");
  const { page, consoleErrors } = await open(t, `/vms/${id}`);
  await bar(page).getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/disks? (is|are) deleted/).waitFor();
  t.same(await violations(page), []);
  const button = dialog.getByRole("button", { name: "Delete" });
  t.ok(await button.isDisabled());
  await button.hover({ force: true });
  const [ink, ground] = await button.evaluate((element) => {
    const { color, backgroundColor } = getComputedStyle(element);
    return [color, backgroundColor];
  });
  t.match(ink, /^rgb\((\d\d|1[0-4]\d), /, `dark text on ${ground}`);
  t.ok(
    await dialog.evaluate((element) =>
      element
        .querySelector(".ui-dialog-body")!
        .contains(document.activeElement),
    ),
    "a field has the focus, not the close button",
  );
  await dialog.getByLabel(/^Type/).fill(name);
  await button.click();
  await toast(page, `Delete: ${name}`).filter({ hasText: "Done" }).waitFor();
  t.same(await list("vms", `id:${id}`), []);
  t.same(consoleErrors, []);
}

async function creationOfVms(t: Test, { open, list }: Bench) {
  const { page, consoleErrors } = await open(t, "/new/vm");
  const make = page.getByRole("button", { name: /^Create/ });
  t.ok(await make.isDisabled());
  await page.getByLabel("Search templates").fill("bookworm");
  await page.getByRole("radio", { name: /Debian Bookworm/ }).check();
  await page.getByLabel("Size of disk 1").waitFor();
  await page
    .getByRole("textbox", { name: "Name", exact: true })
    .fill("made-{index:02}");
  await page.getByRole("spinbutton", { name: "Number of VMs" }).fill("2");
  await page.getByText("2 VMs · made-01, made-02").waitFor();
  await page.getByRole("spinbutton", { name: "vCPUs" }).fill("3");
  await make.click();
  await page.getByText("VMs created:").waitFor();
  t.not(
    await page
      .getByRole("textbox", { name: "Name", exact: true })
      .getAttribute("aria-invalid"),
    "true",
    "the form is empty again, and nothing is wrong",
  );
  const created = await list("vms", "name_label:/^made-0/");
  t.same(
    created.map((vm) => (vm["CPUs"] as { number: number }).number),
    [3, 3],
  );
  t.same(consoleErrors, []);
}

async function actionsOfLimitedUser(
  t: Test,
  { vmOf, addUser, open, bar }: Bench,
) {
  const { id } = await vmOf("power_state:Running");
  const bob = await addUser("bob", { [id]: "viewer" });
  const { page } = await open(t, `/vms/${id}`, { user: bob });
  await page.getByRole("heading", { level: 1 }).waitFor();
  const side = page.getByRole("navigation", { name: "Pages" });
  await side.getByRole("link", { name: "Hosts" }).waitFor({
    state: "detached",
  });
  await bar(page).getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Possible hosts" }).waitFor();
  t.equal(await page.getByRole("menuitem").count(), 1);
  await page.keyboard.press("Escape");
  t.equal(await bar(page).getByRole("button").count(), 1, "only the menu");
  t.equal(await page.getByRole("button", { name: /tag/i }).count(), 0);
  t.equal(
    await page.locator('main a[href^="#/hosts/"]').count(),
    0,
    "no link to the host",
  );
  const shots = process.env["SCREENSHOTS"];
  if (shots !== undefined) await page.screenshot({ path: `${shots}/bob.png` });
  const carol = await addUser("carol", { [id]: "operator" });
  const { page: other } = await open(t, `/vms/${id}`, { user: carol });
  await bar(other)
    .getByRole("button", { name: /^Shut down/ })
    .waitFor();
}

async function enteredMaintenance(t: Test, { list, admin, open }: Bench) {
  const running = await list("vms", "power_state:Running");
  const id = String(running[0]!["$container"]);
  const residents = running.filter((vm) => vm["$container"] === id);
  const others = (await list("hosts", "enabled?")).filter(
    (host) => host.id !== id,
  );
  for (const host of others)
    await admin.request("host.disable", { id: host.id });
  const { page, consoleErrors } = await open(t, `/hosts/${id}`);
  await page
    .getByRole("button", { name: "Enter maintenance mode…" })
    .first()
    .click();
  const stuck = page.getByRole("dialog").locator(".stuck li");
  await stuck.nth(residents.length - 1).waitFor();
  t.equal(await stuck.count(), residents.length);
  t.same(
    (await stuck.getByRole("link").allTextContents()).sort(),
    residents.map((vm) => String(vm["name_label"])).sort(),
  );
  for (const reason of await stuck.allTextContents())
    t.notMatch(reason, /[A-Z]+_[A-Z]/, "words, not codes");
  t.same(await violations(page), []);
  t.same(consoleErrors, []);
  for (const host of others)
    await admin.request("host.enable", { id: host.id });
}

async function restoredForm(t: Test, { open, list, admin }: Bench) {
  const { page } = await open(t, "/new/vm");
  await page.getByRole("radio", { name: /Rocky Linux 9/ }).check();
  const size = page.getByLabel("Size of disk 1");
  await size.fill("77");
  // Another property of the pool changes before the focus leaves the field.
  const [sr] = await list("srs", "content_type:user");
  await admin.request("sr.set", {
    id: sr!.id,
    name_label: "renamed meanwhile",
  });
  await page
    .getByRole("option", { name: /^renamed meanwhile/ })
    .first()
    .waitFor({ state: "attached" });
  t.equal(await size.inputValue(), "77");
  const name = page.getByRole("textbox", { name: "Name", exact: true });
  t.not(await name.getAttribute("aria-invalid"), "true", "not entered yet");
  await name.fill("x");
  await name.fill("");
  await page.locator("[aria-invalid=true]").waitFor();
  t.equal(await name.getAttribute("aria-invalid"), "true");
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("kept");
  await page.reload();
  await page.getByLabel("Size of disk 1").waitFor();
  t.equal(await page.getByLabel("Size of disk 1").inputValue(), "77");
  t.equal(
    await page.getByRole("textbox", { name: "Name", exact: true }).inputValue(),
    "kept",
  );
  const template = page.getByRole("radio", { name: /Rocky Linux 9/ });
  t.ok(
    await template.evaluate((radio) => {
      const list = radio.closest(".list")!.getBoundingClientRect();
      const { top, bottom } = radio.getBoundingClientRect();
      return top >= list.top && bottom <= list.bottom;
    }),
    "the chosen template is in view",
  );
}

async function cancelledAction(
  t: Test,
  { vmOf, browser, url, admin, bar }: Bench,
) {
  const { id } = await vmOf("power_state:Halted");
  const answers = new HeldAnswers("query.page");
  const { page } = await openPage(t, {
    browser,
    url,
    path: `/vms/${id}`,
    cookie: admin.cookie,
    prepare: (page) => answers.route(page),
  });
  const menu = bar(page).getByRole("button", { name: "More" });
  await menu.waitFor();
  const begin = async () => {
    answers.hold();
    await menu.click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
  };
  const dialog = page.getByRole("dialog", { name: "Delete" });
  await begin();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  answers.release();
  await begin();
  await dialog.getByRole("button", { name: "Cancel" }).waitFor();
  await page.goto(`${url}/#/hosts`);
  await page.getByRole("grid").waitFor();
  answers.release();
  await page.getByRole("grid").getByText("Running").first().waitFor();
  t.equal(await page.getByRole("dialog").count(), 0, "no dialog comes later");
}

async function accessibility(t: Test, { open }: Bench) {
  for (const view of [wide, narrow]) {
    const { page } = await open(t, "/new/vm", { view });
    await page.getByRole("radio", { name: /Rocky Linux 9/ }).check();
    await page.getByLabel("Size of disk 1").waitFor();
    t.same(await violations(page), [], view.colorScheme);
    t.ok(await fitsWindow(page), `no wider than ${view.width}`);
  }
}
