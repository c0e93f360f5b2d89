/// <reference lib="dom" />
import t, { type Test } from "tap";
import { emptyFolder } from "../backup/repository-folders.js";
import { startStorageBench } from "../storage-bench.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 360_000 };
t.comment("timeout=360000");
const skip = noBrowserReason() ?? false;
const PASSPHRASE = "passphrase of the tests";

t.test("from nothing to a restored VM", { skip, ...LIMIT }, async (t) => {
  const bench = await openBackupPage(t);
  await addRepository(t, bench);
  await createJob(t, bench);
  await runJob(t, bench);
  await restoreFromPageOfVm(t, bench);
  await overviews(t, bench);
  await addRestoreTest(t, bench);
  await narrowScreen(t, bench);
});

type Bench = Awaited<ReturnType<typeof openBackupPage>>;

async function openBackupPage(t: Test) {
  const { admin, list, url } = await startStorageBench(t);
  // A long word, as the URLs of object stores are.
  const folder = await emptyFolder(t, "r".repeat(60));
  const browser = await openBrowser(t);
  const { page, consoleErrors } = await openPage(t, {
    browser,
    url,
    path: "/backup",
    cookie: admin.cookie,
  });
  const main = page.getByRole("main");
  const dialog = page.getByRole("dialog");
  const button = (name: string | RegExp) =>
    dialog.getByRole("button", { name });

  const halted = await list("vms", "power_state:Halted");
  const vm = halted.find(({ $VBDs }) => ($VBDs as string[]).length > 0)!;
  const name = String(vm["name_label"]);
  const job = main.getByRole("region", { name: "every night" });
  return {
    admin,
    list,
    url,
    folder,
    page,
    consoleErrors,
    main,
    dialog,
    button,
    vm,
    name,
    job,
  };
}

async function addRepository(
  t: Test,
  { main, page, dialog, folder, button }: Bench,
) {
  // Nothing is configured: the page leads to a repository.
  await main.getByText("No VM is backed up yet").waitFor();
  await checkViews(t, page, "backup without repository");
  await main.getByRole("link", { name: "Add repository" }).click();
  await dialog.getByLabel("Name").fill("nightly");
  await dialog.getByRole("textbox", { name: "Folder" }).fill(folder);
  await dialog.getByLabel("Passphrase", { exact: true }).fill(PASSPHRASE);
  await button("Create").click();
  await dialog.getByText("The passphrases differ.").waitFor();
  await dialog.getByLabel("Repeat the passphrase").fill(PASSPHRASE);
  await checkViews(t, page, "form of a repository");
  await button("Create").click();

  // The recovery sheet is shown until the user confirms to have stored it.
  await dialog.getByText("Recovery key:").waitFor();
  await button("Close").click();
  await dialog.getByText("Confirm first").waitFor();
  await checkViews(t, page, "recovery sheet");
  await dialog.getByLabel(/I have printed/).check();
  await button("Done").click();
  const repository = main.getByRole("region", { name: "nightly" });
  await repository.getByText("Reachable").waitFor();
  await checkViews(t, page, "repositories");
}

async function createJob(
  t: Test,
  { page, url, main, dialog, name, button, job }: Bench,
) {
  // A job for one VM.
  await page.goto(`${url}/#/backup`);
  await main.getByRole("link", { name: "Add backup job" }).click();
  await dialog.getByLabel("Name", { exact: true }).fill("every night");
  await dialog.getByText(/VMs match now/).waitFor();
  await dialog.getByLabel("Selected VMs").check();
  await dialog.getByRole("searchbox").fill(name);
  await dialog.getByRole("checkbox", { name, exact: true }).first().check();
  await dialog.getByText("Every day at 22:30").waitFor();
  await dialog.getByText(/backups of each would be kept/).waitFor();
  await dialog
    .getByLabel("Report by e-mail or webhook")
    .selectOption("failure");
  await button("Save").click();
  await dialog.getByText("An address or a webhook is required.").waitFor();
  await dialog.getByLabel("E-mail addresses").fill("admin@example.org");
  await checkViews(t, page, "form of a backup job");
  await page.setViewportSize({ width: 390, height: 900 });
  const wideHints = await dialog
    .locator("label .hint")
    .evaluateAll((hints) =>
      hints
        .filter((hint) => hint.getBoundingClientRect().right > innerWidth)
        .map((hint) => hint.textContent),
    );
  t.same(wideHints, [], "long paths are wrapped");
  await page.setViewportSize({ width: 1440, height: 900 });
  await button("Save").click();
  await job.getByText("never run").waitFor();
  await checkViews(t, page, "backup jobs");
  await job.getByRole("button", { name: /Actions/ }).click();
  await page.getByRole("menuitem", { name: "Preview" }).click();
  await dialog.getByText("in full", { exact: true }).first().waitFor();
  await checkViews(t, page, "preview of a backup job");
  await button("Close").click();
}

async function runJob(t: Test, { page, job, main, name }: Bench) {
  // Its end is shown at once: no timer of the page elapses.
  await page.clock.install();
  await page.reload();
  await job.getByText("never run").waitFor();
  await page.clock.pauseAt(Date.now() + 60_000);
  await job.getByRole("button", { name: "Run now" }).click();
  await job.getByText("succeeded", { exact: true }).waitFor();
  await page.clock.resume();
  await job.getByRole("link", { name: "succeeded" }).click();
  await main
    .getByRole("region", { name, exact: true })
    .getByText("nightly")
    .waitFor();
  await checkViews(t, page, "log of a run");
}

async function restoreFromPageOfVm(
  t: Test,
  { page, url, vm, main, dialog, button, name, list }: Bench,
) {
  // The backup is on the page of the VM, and is restored from there.
  await page.goto(`${url}/#/vms/${vm.id}/backups`);
  await main.getByText("1 backup", { exact: true }).waitFor();
  await checkViews(t, page, "backups of a VM");
  await main.getByRole("button", { name: /Actions for the backup/ }).click();
  await page.getByRole("menuitem", { name: "Download" }).click();
  await dialog.getByLabel("XVA").check();
  t.equal(await dialog.getByLabel("Disk", { exact: true }).count(), 0);
  await checkViews(t, page, "download of a backup");
  const downloading = page.waitForEvent("download");
  await button("Download").click();
  const download = await downloading;
  t.equal(download.suggestedFilename(), `${name}.xva`);
  await download.cancel();
  await main.getByRole("button", { name: /Restore the backup/ }).click();
  await dialog.getByLabel("Name of the new VM").fill("brought back");
  await dialog.getByLabel("SR", { exact: true }).waitFor();
  await checkViews(t, page, "form of a restore");
  await dialog.getByLabel("Over the existing VM").check();
  t.ok(
    await button("Restore").isDisabled(),
    "a VM is not overwritten before its name was typed",
  );
  await dialog.getByLabel("Only as a test").check();
  await button("Start test").waitFor();
  await dialog.getByLabel("As a new VM").check();
  await button("Restore").click();
  await page.getByText(`${name} restored.`).waitFor();
  t.equal((await list("vms", 'name_label:"brought back"')).length, 1);
}

async function overviews(t: Test, { page, url, main }: Bench) {
  // Lists of what is protected.
  await page.goto(`${url}/#/backup`);
  await main.getByRole("heading", { name: "Protected VMs" }).waitFor();
  await checkViews(t, page, "backup overview");

  await page.goto(`${url}/#/backup/backups`);
  await main.getByText("0 of 1 verified").waitFor();
  await checkViews(t, page, "list of backups");
}

async function addRestoreTest(
  t: Test,
  { page, url, main, dialog, button, admin }: Bench,
) {
  // A job of restore tests with reports.
  await page.goto(`${url}/#/backup/tests`);
  await main.getByRole("button", { name: /^Add/ }).click();
  await dialog.getByLabel("Name", { exact: true }).fill("every week");
  await dialog.getByLabel("SR", { exact: true }).selectOption({ index: 1 });
  await dialog.getByLabel("Report by e-mail or webhook").selectOption("always");
  await button("Save").click();
  await dialog.getByText("An address or a webhook is required.").waitFor();
  await dialog.getByLabel("Webhooks").fill("https://hooks.example.org/b");
  await checkViews(t, page, "form of a restore test");
  await button("Save").click();
  await main.getByRole("region", { name: "every week" }).waitFor();
  const jobs = await admin.request<readonly object[]>("job.getAll");
  t.match(
    jobs.find((one) => (one as { type: string }).type === "restore-test"),
    { report: { when: "always", webHooks: ["https://hooks.example.org/b"] } },
  );
}

async function narrowScreen(
  t: Test,
  { page, url, main, consoleErrors }: Bench,
) {
  // On a narrow screen the tab that is shown is in view.
  await page.setViewportSize({ width: 390, height: 900 });
  await page.goto(`${url}/#/backup/repositories`);
  const tab = main.getByRole("link", { name: "Repositories", exact: true });
  await tab.and(page.locator("[aria-current=page]")).waitFor();
  await page.waitForFunction(() => {
    const shown = document.querySelector(".tabs [aria-current=page]");
    const { left = -1, right = 1e9 } = shown?.getBoundingClientRect() ?? {};
    return left >= 0 && right <= window.innerWidth;
  });
  t.same(consoleErrors, []);
}
