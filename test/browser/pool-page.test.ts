import t from "tap";
import { startStorageBench } from "../storage-bench.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";
import { objectActions } from "./object-actions.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

const VLAN = 77;
/** SRs round sizes up to this, in bytes. */
const STEP = 2 * 2 ** 20;

t.test(
  "a pool gets networks, VMs and images from its page",
  { skip, ...LIMIT },
  async (t) => {
    const { admin, list, url } = await startStorageBench(t);
    const [pool] = await list("pools");
    const poolPath = `/pools/${pool!.id}`;
    const poolName = String(pool!["name_label"]);
    const { page, consoleErrors } = await openPage(t, {
      browser: await openBrowser(t),
      url,
      path: poolPath,
      cookie: admin.cookie,
    });
    const { dialog, choose, confirm } = objectActions(t, page, url);
    const imported = (name: string) =>
      page.getByRole("log").getByText(`Imported: ${name}`).first().waitFor();

    await t.test("a network with a VLAN, on all hosts", async (t) => {
      const hosts = await list("hosts");
      await choose(poolPath, poolName, /^New network/);
      await dialog.getByLabel("Name").fill("guests");
      // The interfaces of this pool are in a bond.
      await dialog.getByLabel("Interface").selectOption({ index: 1 });
      await dialog.getByLabel("VLAN").fill(String(VLAN));
      await checkViews(t, page, "the form of a network");
      await confirm("New network");
      const [network] = await list("networks", "name_label:/^guests$/");
      const pifs = await list("pifs", `vlan:${VLAN}`);
      t.same(
        pifs.map((pif) => pif["$network"]),
        hosts.map(() => network?.id),
      );
    });

    await t.test("a network within a host, without an interface", async (t) => {
      await choose(poolPath, poolName, /^New network/);
      await dialog.getByLabel("Name").fill("internal");
      await confirm("New network");
      t.match(await list("networks", "name_label:/^internal$/"), [
        { PIFs: [] },
      ]);
    });

    await t.test("a VM from a file", async (t) => {
      const [vm] = await list("vms", "power_state:Halted");
      const file = await admin.fetch(`/vms/${vm!.id}.xva`);
      const buffer = Buffer.from(await file.arrayBuffer());
      const before = await list("vms");
      await choose(poolPath, poolName, /^Import VM/);
      await dialog
        .getByLabel("File", { exact: true })
        .setInputFiles({ name: "vm.xva", mimeType: "", buffer });
      await checkViews(t, page, "the form of an import");
      const [local] = await list("srs", "!shared? content_type:user");
      const [home] = await list("hosts", `id:${String(local!["$container"])}`);
      await dialog
        .getByRole("option", {
          name: `${String(local!["name_label"])} · ${String(home!["name_label"])}`,
        })
        .first()
        .waitFor({ state: "attached" });
      t.pass("local SRs name their host");
      await dialog.getByRole("button", { name: "Import", exact: true }).click();
      await imported("vm.xva");
      t.equal((await list("vms")).length, before.length + 1);
    });

    await t.test("an image into an SR", async (t) => {
      const [sr] = await list("srs", "shared? content_type:iso");
      await choose(`/srs/${sr!.id}`, String(sr!["name_label"]), /^Import disk/);
      await dialog.getByLabel("File", { exact: true }).setInputFiles({
        name: "rescue.iso",
        mimeType: "",
        buffer: Buffer.alloc(STEP),
      });
      await dialog.getByRole("button", { name: "Import", exact: true }).click();
      await imported("rescue.iso");
      const [vdi] = await list("vdis", `$SR:${sr!.id} name_label:/rescue/`);
      t.match(vdi, { size: STEP });
      t.notMatch(
        await page.getByRole("log").textContent(),
        /Import of a VM/,
        "the task of the previous import has no toast of its own",
      );
    });

    await t.test("the page names the licenses of what it uses", async (t) => {
      await page.goto(`${url}/#/status`);
      const link = page.getByRole("link", { name: /^Licenses of/ });
      const href = await link.getAttribute("href");
      const answer = await fetch(new URL(href!, url));
      t.match(await answer.text(), /MIT/);
    });
    t.same(consoleErrors, []);
  },
);

t.test(
  "a tag is removed from several VMs at once",
  { skip, ...LIMIT },
  async (t) => {
    const { admin, list, url } = await startStorageBench(t);
    const vms = (await list("vms", "power_state:Halted")).slice(0, 2);
    for (const { id } of vms)
      await admin.request("tag.add", { id, tag: "old" });
    const tagged = async () => (await list("vms", "tags:/^old$/")).length;
    t.equal(await tagged(), vms.length);
    const { page, consoleErrors } = await openPage(t, {
      browser: await openBrowser(t),
      url,
      path: `/vms?q=${encodeURIComponent("tags:/^old$/")}`,
      cookie: admin.cookie,
    });
    const rows = page.getByRole("grid").locator(".row .object.name");
    await rows.nth(1).waitFor();
    await page.keyboard.press("Control+a");
    const selection = page.getByRole("region", { name: "Selection" });
    await selection.getByText("2 selected").waitFor();
    await selection.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: /^Remove tag/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("combobox").selectOption("old");
    await checkViews(t, page, "the form of a tag to be removed");
    await dialog.getByRole("button", { name: "Remove tag" }).click();
    await page.getByText("All 2 done").waitFor();
    t.equal(await tagged(), 0);
    await rows.first().waitFor({ state: "detached" });
    t.same(consoleErrors, []);
  },
);
