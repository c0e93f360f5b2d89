/// <reference lib="dom" />
import {
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { emptyFolder } from "../backup/repository-folders.js";
import { startStorageBench, type Operator } from "../storage-bench.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 360_000 };
t.comment("timeout=360000");
const skip = noBrowserReason() ?? false;

/** A repository with one backup of the VM. */
async function backedUp(
  admin: Operator,
  { name, folder, vm }: { name: string; folder: string; vm: string },
): Promise<string> {
  const { id } = await admin.request<{ id: string }>("remote.create", {
    name,
    url: `file://${folder}`,
    passphrase: "passphrase of the tests",
    parity: false,
  });
  const job = await admin.request<string>("job.create", {
    job: {
      type: "backup",
      name,
      vms: [vm],
      repositories: [id],
      retention: { keepLast: 3 },
    },
  });
  await admin.request("job.runSequence", { idSequence: [job] });
  return id;
}

/** Flips one bit of the largest pack. */
function damagePack(folder: string): void {
  const packs = join(folder, "packs");
  const files = (readdirSync(packs, { recursive: true }) as string[])
    .map((name) => join(packs, name))
    .filter((path) => statSync(path).isFile())
    .sort((a, b) => statSync(b).size - statSync(a).size);
  const bytes = readFileSync(files[0]!);
  bytes[1000]! ^= 1;
  writeFileSync(files[0]!, bytes);
}

/** Deletes the last entry of the log and its copy. */
function loseLastEntry(folder: string): void {
  for (const place of ["log", "copies/log"]) {
    const last = readdirSync(join(folder, place)).sort().at(-1)!;
    rmSync(join(folder, place, last));
  }
}

t.test(
  "damaged repositories say what is wrong, and what to do",
  { skip, ...LIMIT },
  async (t) => {
    const bench = await openDamagedRepositories(t);
    await repositoryCards(t, bench);
    await backupJobs(t, bench);
    await restoreTests(t, bench);
    await listsOfBackups(t, bench);
    await refusedRestores(t, bench);
  },
);

type Bench = Awaited<ReturnType<typeof openDamagedRepositories>>;

async function openDamagedRepositories(t: Test) {
  const { admin, list, url } = await startStorageBench(t);
  const halted = await list("vms", "power_state:Halted");
  const vm = halted.find(({ $VBDs }) => ($VBDs as string[]).length > 0)!;
  const name = String(vm["name_label"]);
  const names = ["flipped", "gone", "older"] as const;
  const folders = new Map<string, string>();
  const ids = new Map<string, string>();
  for (const one of names) {
    const folder = await emptyFolder(t, one);
    folders.set(one, folder);
    ids.set(one, await backedUp(admin, { name: one, folder, vm: vm.id }));
  }
  damagePack(folders.get("flipped")!);
  writeFileSync(join(folders.get("flipped")!, "packs/Thumbs.db"), "");
  renameSync(folders.get("gone")!, `${folders.get("gone")!} away`);
  loseLastEntry(folders.get("older")!);
  for (const id of ids.values())
    await admin.call("backupRepository.verify", { id, all: true });

  const browser = await openBrowser(t);
  const { page, consoleErrors } = await openPage(t, {
    browser,
    url,
    path: "/backup/repositories",
    cookie: admin.cookie,
  });
  const main = page.getByRole("main");
  const dialog = page.getByRole("dialog");
  const card = (one: string) => main.getByRole("region", { name: one });
  return {
    admin,
    list,
    url,
    vm,
    name,
    page,
    consoleErrors,
    main,
    dialog,
    card,
  };
}

async function repositoryCards(t: Test, { card, page, url, main }: Bench) {
  // Each card says what is wrong and what to do.
  await card("flipped").getByText("1 damaged backup").waitFor();
  await card("flipped")
    .getByText(/packs.* is damaged/)
    .waitFor();
  await card("flipped").getByText("packs/Thumbs.db").waitFor();
  await card("flipped").getByText("never deleted").waitFor();
  await card("gone").getByText("Not reachable").waitFor();
  await card("gone").getByText("Check that its storage").waitFor();
  await card("older").getByText("Older than before").waitFor();
  await card("older").getByText("bring the newer files back").waitFor();
  await checkViews(t, page, "damaged repositories");

  await page.goto(`${url}/#/backup`);
  await main.getByText("Older than before").waitFor();
  await main.getByText("Not reachable").waitFor();
  await checkViews(t, page, "overview with damaged repositories");
}

async function backupJobs(t: Test, { page, url, card, name, main }: Bench) {
  // Jobs name the repository that fails them, and so does the toast of a run.
  await page.goto(`${url}/#/backup/jobs`);
  await card("older").getByText("Repository older: Older").waitFor();
  await card("older").getByText("bring the newer files back").waitFor();
  await card("gone").getByText("Repository gone: Not reachable").waitFor();
  t.equal(await card("flipped").getByText("Runs of this job fail").count(), 0);
  await checkViews(t, page, "jobs with unusable repositories");
  await card("older").getByRole("button", { name: "Run now" }).click();
  const toasts = page.getByRole("log", { name: "Notifications" });
  await toasts.getByText("Failed: older").waitFor();
  await toasts
    .getByText(new RegExp(`^1 of 1 failed: ${name}: older: .+`))
    .waitFor();
  await checkViews(t, page, "toast of a failed backup job");
  await toasts.getByRole("button", { name: "Show run" }).click();
  await page.waitForURL(/#\/backup\/runs\//);
  await main.getByRole("region", { name, exact: true }).waitFor();
}

async function restoreTests(
  t: Test,
  { list, admin, vm, page, url, card }: Bench,
) {
  // So do restore tests, whose job reads all repositories.
  const [sr] = await list("srs", "SR_type:nfs content_type:user");
  await admin.request("job.create", {
    job: { type: "restore-test", name: "weekly", vms: [vm.id], sr: sr!.id },
  });
  await page.goto(`${url}/#/backup/tests`);
  await card("weekly").getByText("Repository older: Older").waitFor();
  await card("weekly").getByText("Repository gone: Not reachable").waitFor();
  t.equal(
    await card("weekly").getByText("Backups in it are not tested").count(),
    2,
    "the damaged one can be read",
  );
  await checkViews(t, page, "restore tests with unreadable repositories");
}

async function listsOfBackups(t: Test, { page, url, main, vm }: Bench) {
  // None of these backups is shown as one that can be restored.
  await page.goto(`${url}/#/backup/backups`);
  await main.getByText("1 damaged backup").waitFor();
  await main.getByText("2 backups cannot be read").waitFor();
  t.equal(await main.getByText("0 of 3 verified").count(), 0);
  await checkViews(t, page, "list of damaged backups");
  await page.goto(`${url}/#/vms/${vm.id}/backups`);
  await main.getByText("Repository gone: Not reachable.").waitFor();
  await main.getByText("Repository older: Older than before.").waitFor();
  await main.getByText("repository: Not reachable").waitFor();
  await main.getByText("repository: Older than before").waitFor();
  await main.getByText("damaged", { exact: true }).waitFor();
  t.equal(await main.getByText("not verified yet").count(), 0);
  await checkViews(t, page, "time line of damaged backups");
}

async function refusedRestores(
  t: Test,
  { main, dialog, page, name, list, consoleErrors }: Bench,
) {
  // Newest first: older, gone, flipped.
  const restore = main.getByRole("button", { name: /Restore the backup/ });
  await restore.nth(2).click();
  await dialog.getByText("choose another backup").waitFor();
  await checkViews(t, page, "restore of a damaged backup");
  await page.keyboard.press("Escape");
  await restore.nth(1).click();
  await dialog.getByText("cannot be restored until").waitFor();
  await dialog.getByLabel("SR", { exact: true }).waitFor();
  await dialog.getByLabel("Name of the new VM").fill(`${name} again`);
  await dialog.getByRole("button", { name: "Restore", exact: true }).click();
  await dialog.getByText("holds no repository").first().waitFor();
  t.equal((await list("vms", `name_label:"${name} again"`)).length, 0);
  t.same(consoleErrors, []);
}
