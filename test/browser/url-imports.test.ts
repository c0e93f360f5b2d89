import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import { startConfiguredBench } from "../storage-bench.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 300_000 };
t.comment("timeout=300000");
const skip = noBrowserReason() ?? false;
const MIB = 2 ** 20;
const config = 'imports: { networks: ["127.0.0.1"] }\n';

t.test(
  "files are imported from a URL, and written over a disk",
  { skip, ...LIMIT },
  async (t) => {
    const bench = await startConfiguredBench(t, config);
    const { admin, list } = bench;
    const [sr] = await list("srs", "SR_type:nfs");
    const [pool] = await list("pools");
    const [vm] = await list("vms", "power_state:Halted");
    const xva = await admin.fetch(`/vms/${vm!.id}.xva`);
    const files = new Map([
      ["/images/golden.raw", randomBytes(2 * MIB)],
      ["/copy.xva", Buffer.from(await xva.arrayBuffer())],
    ]);
    const web = createServer(({ url = "" }, response) => {
      const file = files.get(url);
      if (file === undefined) response.writeHead(404).end();
      else response.end(file);
    });
    web.listen(0, "127.0.0.1");
    await once(web, "listening");
    t.teardown(() => web.close());
    const origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    const { page, consoleErrors } = await openPage(t, {
      browser: await openBrowser(t),
      url: bench.url,
      path: `/srs/${sr!.id}`,
      cookie: admin.cookie,
    });
    const dialog = page.getByRole("dialog");
    const open = async (path: string, item: RegExp) => {
      await page.goto(`${bench.url}/#${path}`);
      await page.getByRole("button", { name: "More" }).first().click();
      await page.getByRole("menuitem", { name: item }).click();
    };
    const press = (name: string) =>
      dialog.getByRole("button", { name, exact: true }).click();

    await t.test("a disk", async (t) => {
      await open(`/srs/${sr!.id}`, /^Import disk/);
      await dialog.getByText("URL", { exact: true }).click();
      await press("Import");
      await dialog.getByText("Not an http or https URL").waitFor();
      const url = dialog.getByLabel("URL", { exact: true }).last();
      await url.fill(`${origin}/absent.vhd`);
      t.equal(await dialog.getByLabel("Format").inputValue(), "vhd");
      await press("Import");
      await dialog.getByText(/status 404/).waitFor();
      await url.fill(`${origin}/images/golden.raw`);
      t.equal(await dialog.getByLabel("Name").inputValue(), "golden");
      t.equal(await dialog.getByLabel("Format").inputValue(), "raw");
      await checkViews(t, page, "the import from a URL");
      await press("Import");
      await page.getByText("Import disk: NFS").first().waitFor();
      await dialog.waitFor({ state: "hidden" });
      await page.getByText(/^Done/).first().waitFor();
      const [disk] = await list("vdis", "name_label:/^golden$/");
      const read = await admin.fetch(`/vdis/${disk!.id}.raw`);
      t.ok(
        Buffer.from(await read.arrayBuffer()).equals(
          files.get("/images/golden.raw")!,
        ),
      );
    });

    await t.test("a VM", async (t) => {
      await open(`/pools/${pool!.id}`, /^Import VM/);
      await dialog.getByText("URL", { exact: true }).click();
      const url = dialog.getByLabel("URL", { exact: true }).last();
      await url.fill(`${origin}/copy.xva`);
      await press("Import");
      await page.getByRole("button", { name: "Open" }).click();
      await page.waitForURL(/#\/vms\//);
      t.equal(
        (await list("vms", `name_label:/^${String(vm!["name_label"])}$/`))
          .length,
        2,
      );
    });

    await t.test("an upload replaces the contents of a disk", async (t) => {
      const [disk] = await list("vdis", "name_label:/^golden$/");
      const next = randomBytes(MIB);
      await page.goto(`${bench.url}/#/vdis?q=name_label:golden`);
      await page.getByText("1 object", { exact: true }).waitFor();
      await page.getByRole("checkbox").nth(1).check();
      await page.getByRole("button", { name: "More" }).last().click();
      await page.getByRole("menuitem", { name: /^Overwrite/ }).click();
      const choose = (buffer: Buffer) =>
        dialog.getByLabel("File", { exact: true }).setInputFiles({
          name: "next.raw",
          buffer,
          mimeType: "application/octet-stream",
        });
      await choose(Buffer.alloc(3 * MIB, 1));
      await dialog.getByText("is larger than the disk").waitFor();
      await choose(next);
      t.ok(
        await dialog
          .getByRole("button", { name: "Overwrite", exact: true })
          .isDisabled(),
        "the name of the disk is not typed yet",
      );
      await dialog.getByLabel(/golden/).fill("golden");
      await checkViews(t, page, "overwriting a disk");
      await press("Overwrite");
      await page.getByText("Disk overwritten with next.raw").waitFor();
      const read = await admin.fetch(`/vdis/${disk!.id}.raw`);
      const bytes = Buffer.from(await read.arrayBuffer());
      t.ok(bytes.subarray(0, MIB).equals(next));
    });
    t.same(
      consoleErrors.filter((text) => !text.includes("404")),
      [],
    );
  },
);
