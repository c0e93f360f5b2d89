import t from "tap";
import { startStorageBench } from "../storage-bench.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";
import { objectActions } from "./object-actions.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

t.test(
  "devices of a VM, and how hosts are reached, are changed from the page",
  { skip, ...LIMIT },
  async (t) => {
    // A pool with GPUs.
    const { admin, list, url } = await startStorageBench(t, "--seed", "4");
    const [vm] = await list("vms", "power_state:Halted !VTPMs:/./");
    const [pool] = await list("pools");
    const browser = await openBrowser(t);
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path: `/vms/${vm!.id}`,
      cookie: admin.cookie,
    });
    const { dialog, choose, confirm } = objectActions(t, page, url);
    const vmName = String(vm!["name_label"]);
    const vmPath = `/vms/${vm!.id}`;
    const ofVm = async (field: string) =>
      (await list("vms", `id:${vm!.id}`))[0]?.[field];

    await t.test("a vTPM is added and destroyed", async (t) => {
      await choose(vmPath, vmName, /^Add vTPM/);
      await confirm("Add vTPM");
      t.match(await ofVm("VTPMs"), [String]);
      await choose(vmPath, vmName, /^Destroy vTPM/);
      await checkViews(t, page, "the confirmation of destroying a vTPM");
      await confirm("Destroy vTPM", vmName);
      t.same(await ofVm("VTPMs"), []);
    });

    await t.test("devices of hosts are passed through", async (t) => {
      const all = async (filter: object) =>
        Object.values(
          await admin.request<Record<string, { readonly id: string }>>(
            "xo.getAllObjects",
            { filter },
          ),
        );
      const [usb] = await all({ type: "PUSB" });
      await admin.request("pusb.set", { id: usb!.id, enabled: true });
      await page.goto("about:blank");
      await page.goto(`${url}/#${vmPath}/advanced`);
      const card = page.getByRole("region", { name: "Passthrough devices" });
      await card.getByText("No PCI or USB devices").waitFor();
      const listed = card.getByRole("row").filter({ hasText: /Detach/ });
      for (const [action, kind] of [
        ["Attach PCI device", "PCI"],
        ["Attach USB device", "USB"],
        ["Attach vGPU", "vGPU"],
      ] as const) {
        await card.getByRole("button", { name: action }).click();
        await dialog.waitFor();
        const field = dialog.getByLabel("Device");
        t.match(await field.locator("option").first().textContent(), /\w{4}/);
        if (kind === "USB") await checkViews(t, page, "the form of a device");
        await dialog.getByRole("button", { name: "Attach" }).click();
        await dialog.waitFor({ state: "detached" });
        await listed.filter({ hasText: kind }).first().waitFor();
      }
      await checkViews(t, page, "devices of a VM");
      t.match(await ofVm("attachedPcis"), [/^0000:/]);
      const ofKind = async (type: string) =>
        (await all({ type, vm: vm!.id })).length;
      t.same([await ofKind("VUSB"), await ofKind("vgpu")], [1, 1]);
      t.ok(
        await card.getByRole("button", { name: "Attach USB" }).isDisabled(),
        "no further one is free",
      );
      for (let left = 3; left > 0; left--) {
        // By key: notifications may be above the button.
        await listed.first().getByRole("button").press("Enter");
        await dialog.getByRole("button", { name: "Detach" }).click();
        await dialog.waitFor({ state: "detached" });
        await listed.nth(left - 1).waitFor({ state: "detached" });
      }
      t.equal(await ofVm("attachedPcis"), undefined);
      t.same([await ofKind("VUSB"), await ofKind("vgpu")], [0, 0]);
    });

    await t.test("another management interface is chosen", async (t) => {
      const [host] = await list("hosts", `$pool:${pool!.id}`);
      const [other] = await list(
        "pifs",
        `$host:${host!.id} !management? !mode:/^None$/ !isBondSlave?`,
      );
      if (other === undefined) {
        const [free] = await list(
          "pifs",
          `$host:${host!.id} !management? !isBondSlave?`,
        );
        const mode = { id: free!.id, mode: "DHCP" };
        await admin.request("pif.reconfigureIp", mode);
      }
      const name = String(host!["name_label"]);
      await choose(`/hosts/${host!.id}`, name, /^Change management interface/);
      await checkViews(t, page, "the form of a management interface");
      const field = dialog.getByLabel("Interface");
      const options = field.locator("option[value]:not([value=''])");
      await options.first().waitFor({ state: "attached" });
      t.match(await options.first().textContent(), /^\w+\d+(\.\d+)? · /);
      const id = (await options.first().getAttribute("value"))!;
      await field.selectOption(id);
      await confirm("Change management interface", name);
      const [pif] = await list("pifs", `id:${id}`);
      t.equal(pif?.["management"], true);
    });

    await t.test("all hosts get another management network", async (t) => {
      const name = String(pool!["name_label"]);
      const [bond] = await list("networks", 'name_label:"Bond 0+1"');
      await choose(`/pools/${pool!.id}`, name, /^Change management network/);
      await dialog.getByLabel("Network").selectOption(bond!.id);
      await checkViews(t, page, "the form of a management network");
      await confirm("Change management network", name);
      const pifs = await list("pifs", "management?");
      const hosts = await list("hosts");
      t.same(
        pifs.map(({ $network }) => $network),
        hosts.map(() => bond!.id),
      );
    });

    await t.test("the palette finds the actions", async () => {
      await page.goto(`${url}/#${vmPath}`);
      await page.getByRole("heading", { level: 1, name: vmName }).waitFor();
      await page
        .getByRole("group", { name: "Actions" })
        .getByRole("button", { name: "More" })
        .waitFor();
      await page.keyboard.press("Control+k");
      await dialog.waitFor();
      await page.keyboard.type("BitLocker");
      await dialog
        .getByRole("option")
        .filter({ hasText: "Add vTPM" })
        .first()
        .waitFor();
    });
    t.same(consoleErrors, []);
  },
);
