import {
  ovaOf,
  ovfOf,
  streamOptimized,
} from "@xo-server/backup/test/foreign-fixtures.js";
import t from "tap";
import { startStorageBench } from "../storage-bench.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

t.test(
  "the networks of an OVA are chosen before it is uploaded",
  { skip, ...LIMIT },
  async (t) => {
    const bench = await startStorageBench(t);
    const [pool] = await bench.list("pools");
    const [network, same] = await bench.list("networks");
    const names = ["VM Network", String(same!["name_label"])];
    const disk = Buffer.alloc(2 ** 21, 1);
    const ova = ovaOf({
      "vm.ovf": ovfOf({
        name: "from elsewhere",
        disks: [{ id: "a", size: disk.length, file: "a.vmdk" }],
        networks: names,
      }),
      "a.vmdk": streamOptimized(disk),
    });
    const { page, consoleErrors } = await openPage(t, {
      browser: await openBrowser(t),
      url: bench.url,
      path: `/pools/${pool!.id}`,
      cookie: bench.admin.cookie,
    });
    await page.getByRole("button", { name: "More" }).first().click();
    await page.getByRole("menuitem", { name: /^Import VM/ }).click();
    const dialog = page.getByRole("dialog");
    const submit = dialog.getByRole("button", { name: "Import", exact: true });
    const file = (name: string, buffer: Buffer) =>
      dialog.getByLabel("File", { exact: true }).setInputFiles({
        name,
        buffer,
        mimeType: "application/octet-stream",
      });
    await file("odd.ova", Buffer.alloc(2048, "x"));
    await dialog.getByText("it is not a valid OVA").waitFor();
    t.ok(await submit.isDisabled());

    await file("vm.ova", ova);
    const first = dialog.getByLabel("VM Network", { exact: true });
    await first.waitFor();
    t.equal(
      await dialog.getByLabel(names[1]!, { exact: true }).inputValue(),
      same!.id,
      "a network of the same name is chosen",
    );
    t.ok(await submit.isDisabled(), "the other one is not chosen yet");
    await first.selectOption(network!.id);
    await checkViews(t, page, "the import of an OVA");
    await submit.click();
    await page.getByText("Imported: vm.ova").waitFor();
    const [vm] = await bench.list("vms", "name_label:/^from elsewhere$/");
    const vifs = await bench.list("vifs", `$VM:${vm!.id}`);
    t.same(
      vifs
        .toSorted((a, b) => Number(a["device"]) - Number(b["device"]))
        .map((vif) => vif["$network"]),
      [network!.id, same!.id],
    );
    t.same(consoleErrors, []);
  },
);
