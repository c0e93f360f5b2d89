import t from "tap";
import { startStorageBench } from "../storage-bench.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

const ENCODED =
  "AAAAC3NzaC1lZDI1NTE5AAAAIGSeQF1CdS6rTMJqb3UXPlTHq2vL4BYRWS4YQnJ6Zcq1";
const KEY = `ssh-ed25519 ${ENCODED} ada@laptop`;

t.test(
  "SSH keys are stored with the account, and offered for new VMs",
  { skip, ...LIMIT },
  async (t) => {
    const { admin, url } = await startStorageBench(t);
    const browser = await openBrowser(t);
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path: "/settings/account",
      cookie: admin.cookie,
    });
    const main = page.getByRole("main");
    const dialog = page.getByRole("dialog");
    await main.getByRole("button", { name: "Add SSH key" }).click();
    await dialog
      .getByLabel("Public key")
      .fill("-----BEGIN OPENSSH PRIVATE KEY");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("This is a private key.").waitFor();
    await dialog.getByLabel("Public key").fill(KEY);
    await dialog.getByLabel("Title").click();
    t.equal(await dialog.getByLabel("Title").inputValue(), "ada@laptop");
    await dialog.getByLabel("Title").fill("laptop");
    await checkViews(t, page, "form of an SSH key");
    await dialog.getByRole("button", { name: "Save" }).click();
    await main.getByRole("row", { name: /laptop/ }).waitFor();
    await checkViews(t, page, "SSH keys of an account");
    const stored = { sshKeys: [{ title: "laptop", key: KEY }] };
    t.match(await admin.request("session.getUser"), { preferences: stored });

    // In the form of a new VM.
    await page.goto(`${url}/#/new/vm`);
    const cloud = main.getByRole("textbox", { name: "User data" });
    await main.getByText("User data").first().click();
    await main.getByLabel("laptop").check();
    t.match(
      await cloud.inputValue(),
      `#cloud-config\nssh_authorized_keys:\n  - ${KEY}\n`,
    );
    await checkViews(t, page, "SSH keys of a new VM");
    await main.getByLabel("laptop").uncheck();
    t.equal(await cloud.inputValue(), "");

    await page.goto(`${url}/#/settings/account`);
    const remove = main.getByRole("button", { name: "Delete SSH key laptop" });
    await remove.click();
    await dialog.getByText("Delete SSH key laptop?").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    await remove.click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await main
      .getByRole("row", { name: /laptop/ })
      .waitFor({ state: "detached" });
    t.match(await admin.request("session.getUser"), {
      preferences: { sshKeys: [] },
    });
    t.same(consoleErrors, []);
  },
);
