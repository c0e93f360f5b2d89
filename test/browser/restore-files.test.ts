/// <reference lib="dom" />
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import {
  readFixture,
  type Fixture,
} from "@xo-server/backup/test/file-system-fixtures.js";
import { emptyFolder } from "../backup/repository-folders.js";
import { startStorageBench, type StorageBench } from "../storage-bench.js";
import { checkViews, narrow, openPage, wide } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 360_000 };
t.comment("timeout=360000");
const skip = noBrowserReason() ?? false;

t.test(
  "files of a disk of a backup are chosen and downloaded",
  { skip, ...LIMIT },
  async (t) => {
    const bench = await startStorageBench(t);
    const fixture = readFixture("ext4");
    const vm = await backedUpVm(t, bench, fixture);
    const browser = await openBrowser(t);
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url: bench.url,
      path: `/vms/${vm}/backups`,
      cookie: bench.admin.cookie,
    });
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: /Actions for the backup/ }).click();
    await page.getByRole("menuitem", { name: "Restore files…" }).click();
    const guest = dialog.getByRole("option", { name: /^guest/ });
    const value = (await guest.getAttribute("value"))!;
    await dialog.getByLabel("Disk", { exact: true }).selectOption(value);
    await dialog.getByText("hello.txt", { exact: true }).waitFor();
    await shoot(page, "root");
    await checkViews(t, page, "files of a backup");

    await dialog.getByRole("button", { name: "many", exact: true }).click();
    await dialog.getByText("file-00000-with-a-long-name.txt").waitFor();
    await shoot(page, "folder");
    const rows = dialog.getByRole("listitem");
    t.ok((await rows.count()) < 60, "only visible rows are drawn");
    await dialog.getByRole("button", { name: "/", exact: true }).click();

    await dialog.getByLabel("Select big.bin").check();
    const download = page.waitForEvent("download");
    await dialog.getByRole("button", { name: "Download 1 item" }).click();
    const file = await download;
    t.equal(file.suggestedFilename(), "big.bin");
    const bytes = await readFile(await file.path());
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    t.equal(sha256, fixture.files["/big.bin"]?.sha256);

    await dialog.getByLabel("Select folder", { exact: true }).check();
    await dialog.getByLabel("Archive", { exact: true }).selectOption("tgz");
    await checkViews(t, page, "chosen files of a backup");
    await shoot(page, "chosen");
    const second = page.waitForEvent("download");
    await dialog.getByRole("button", { name: "Download 2 items" }).click();
    t.equal((await second).suggestedFilename(), "files.tgz");

    const others = dialog
      .getByLabel("Disk", { exact: true })
      .getByRole("option");
    const other = await others.evaluateAll(
      (all, chosen) =>
        all
          .map((one) => (one as HTMLOptionElement).value)
          .find((one) => one !== chosen)!,
      value,
    );
    await dialog.getByLabel("Disk", { exact: true }).selectOption(other);
    await dialog.getByText("no file system was recognized").waitFor();
    await checkViews(t, page, "a disk without a file system");
    await shoot(page, "unknown");
    t.same(consoleErrors, []);
  },
);

/** @returns the id of a VM with a disk that has the image, and a backup */
async function backedUpVm(
  t: Test,
  { admin, list }: StorageBench,
  { disk }: Fixture,
): Promise<string> {
  const halted = await list("vms", "power_state:Halted");
  const vm = halted.find(({ $VBDs }) => ($VBDs as string[]).length > 0)!;
  const srs = await list("srs", "SR_type:nfs");
  const [sr] = srs;
  const response = await admin.fetch(
    `/srs/${sr!.id}/vdis?raw=true&name_label=guest`,
    {
      method: "POST",
      body: new Uint8Array(await disk.read(0, disk.size)),
      headers: { "content-type": "application/octet-stream" },
    },
  );
  const { id: vdi } = (await response.json()) as { id: string };
  await admin.request("vm.attachDisk", { vm: vm.id, vdi });
  const folder = await emptyFolder(t, "files");
  const { id } = await admin.request<{ id: string }>("remote.create", {
    name: "files",
    url: `file://${folder}`,
    passphrase: "passphrase of the tests",
    parity: false,
  });
  const job = await admin.request<string>("job.create", {
    job: {
      type: "backup",
      name: "files",
      vms: [vm.id],
      repositories: [id],
      retention: { keepLast: 3 },
    },
  });
  await admin.request("job.runSequence", { idSequence: [job] });
  return vm.id;
}

/** Pictures for the eye, if the variable names a folder. */
async function shoot(
  page: Awaited<ReturnType<typeof openPage>>["page"],
  name: string,
): Promise<void> {
  const folder = process.env["XO_TEST_PICTURES"];
  if (folder === undefined) return;
  for (const { colorScheme, width } of [wide, narrow]) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.setViewportSize({ width, height: 900 });
    const path = join(folder, `${name}-${colorScheme}.png`);
    await page.screenshot({ path });
  }
  await page.setViewportSize({ width: wide.width, height: 900 });
}
