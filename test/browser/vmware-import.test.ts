import { randomBytes } from "node:crypto";
import t from "tap";
import { startStorageBench } from "../storage-bench.js";
import { noVcsim, startVcsim } from "../vcsim.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? noVcsim;

const MIB = 2 ** 20;
const SECTORS = (10 * 2 ** 30) / 512;
const descriptor = `# Disk DescriptorFile
parentCID=ffffffff
RW 2048 VMFS "disk1-flat.vmdk"
RW ${SECTORS - 2048} ZERO
`;

t.test(
  "VMs of a vCenter are chosen and imported",
  { skip, ...LIMIT },
  async (t) => {
    const bench = await startStorageBench(t);
    const vcenter = await startVcsim(t, "-vm", "3");
    await vcenter.put("DC0_H0_VM0/disk1.vmdk", descriptor);
    await vcenter.put("DC0_H0_VM0/disk1-flat.vmdk", randomBytes(MIB));
    const [pool] = await bench.list("pools");
    const [network] = await bench.list("networks");
    const [sr] = await bench.list("srs", "SR_type:nfs");
    const { page, consoleErrors } = await openPage(t, {
      browser: await openBrowser(t),
      url: bench.url,
      path: `/pools/${pool!.id}`,
      cookie: bench.admin.cookie,
    });
    await page.getByRole("button", { name: "More" }).first().click();
    await page.getByRole("menuitem", { name: /^Import from VMware/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Host", { exact: true }).fill(vcenter.host);
    await dialog.getByLabel("User").fill("user");
    await dialog.getByLabel("Password").fill("the password");
    const connect = dialog.getByRole("button", { name: "Connect" });
    await connect.click();
    await dialog
      .getByRole("alert")
      .getByText(/is not trusted.*SHA-256/)
      .waitFor();
    await checkViews(t, page, "the connection to VMware");
    await dialog.getByRole("button", { name: "Accept certificate" }).click();

    const vm = (name: string) => dialog.getByLabel(new RegExp(`^${name} `));
    await vm("DC0_H0_VM0").waitFor();
    t.ok(await vm("DC0_H0_VM0").isDisabled(), "it runs");
    await dialog.getByLabel(/^Shut down running VMs/).check();
    await vm("DC0_H0_VM0").check();
    // Its disk has no descriptor.
    await vm("DC0_H0_VM1").check();
    await dialog.getByLabel("SR", { exact: true }).selectOption(sr!.id);
    await dialog
      .getByLabel("DC0_DVPG0", { exact: true })
      .selectOption(network!.id);
    await checkViews(t, page, "the VMs of VMware");
    await dialog.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByText("1 VM was not imported").waitFor();
    await page.getByText(/DC0_H0_VM1: .*no descriptor of a disk/).waitFor();
    const [imported] = await bench.list("vms", "name_label:/^DC0_H0_VM0$/");
    const [vif] = await bench.list("vifs", `$VM:${imported!.id}`);
    t.equal(vif!["$network"], network!.id);
    t.same(consoleErrors, []);
  },
);
