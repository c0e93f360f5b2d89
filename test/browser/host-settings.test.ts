/// <reference lib="dom" />
import { X509Certificate } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import t from "tap";
import { makeSelfSigned } from "@xo-server/certificate";
import { ApiSession, startOver } from "../api-session.js";
import { startStorageBench } from "../storage-bench.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";
import { objectActions } from "./object-actions.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=480000");
const skip = noBrowserReason() ?? false;

/** Repeats the request until the result is as expected; the time limit of the test ends it. */
async function until<T>(
  request: () => Promise<T>,
  isMet: (answer: T) => boolean,
): Promise<void> {
  while (!isMet(await request())) await pause(50);
}

t.test(
  "certificates and settings of a host are changed from its page",
  { skip, ...LIMIT },
  async (t) => {
    const { admin, list, url } = await startStorageBench(t);
    const [host] = await list("hosts");
    const id = host!.id;
    const name = String(host!["name_label"]);
    const path = `/hosts/${id}`;
    const browser = await openBrowser(t);
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path,
      cookie: admin.cookie,
    });
    const { dialog, choose, confirm } = objectActions(t, page, url);
    const main = page.getByRole("main");
    const now = async () => (await list("hosts", `id:${id}`))[0]!;
    const fingerprints = async () =>
      ((await now())["certificates"] as { fingerprint: string }[]).map(
        (one) => one.fingerprint,
      );
    const [external, internal] = await fingerprints();

    await t.test("a certificate is installed", async (t) => {
      const { cert, key } = makeSelfSigned({
        commonName: "host.example.org",
        names: ["host.example.org"],
      });
      await choose(path, name, /^Install certificate/);
      await dialog.getByLabel("Certificate", { exact: true }).fill(cert);
      await dialog.getByLabel("Private key").fill(key);
      await checkViews(t, page, "the form of a certificate");
      await confirm("Install certificate");
      const { fingerprint256 } = new X509Certificate(cert);
      t.ok((await fingerprints()).includes(fingerprint256));
      t.ok(
        (await fingerprints()).includes(internal!),
        "the internal one stays",
      );
      await page.goto(`${url}/#${path}/advanced`);
      await main.getByText(fingerprint256).waitFor();
    });

    await t.test("it is reset, and the internal one renewed", async (t) => {
      const before = await fingerprints();
      await choose(path, name, /^Reset certificate/);
      await checkViews(t, page, "the confirmation of a reset certificate");
      await confirm("Reset certificate", name);
      const reset = await fingerprints();
      t.equal(reset.filter((one) => before.includes(one)).length, 1);
      t.ok(reset.includes(internal!));
      await choose(path, name, /^Renew internal certificate/);
      await confirm("Renew internal certificate");
      const renewed = await fingerprints();
      t.notOk(renewed.includes(internal!));
      t.equal(renewed.filter((one) => reset.includes(one)).length, 1);
      t.notOk(renewed.includes(external!));
    });

    await t.test("logs are sent to a syslog server", async (t) => {
      await page.goto(`${url}/#${path}/advanced`);
      await main.getByRole("button", { name: /Syslog target/ }).click();
      const field = main.getByRole("textbox", { name: /Syslog target/ });
      await field.fill("logs.example.org");
      await field.press("Enter");
      await main
        .getByRole("button", { name: /Syslog target.*logs\.example\.org/ })
        .waitFor();
      // The page shows the new value before the server has it.
      await until(now, ({ logging }) => {
        const { syslog_destination: to } = logging as Record<string, string>;
        return to === "logs.example.org";
      });
      t.pass("the host has it");
    });

    t.same(consoleErrors, []);
  },
);

t.test(
  "the memory of a control domain is set on the page of its host, and taken at its next boot",
  { skip, ...LIMIT },
  async (t) => {
    const size = ["--hosts", "4", "--vms", "8", "--seed", "1"];
    const { admin, list, url } = await startStorageBench(
      t,
      ...size,
      "--pace",
      "0.05",
    );
    const [pool] = await list("pools");
    const hosts = await list("hosts");
    const host = hosts.find(({ id }) => id !== pool!["master"])!;
    const { id, controlDomain } = host;
    const memory = async () =>
      (
        (await admin.rest("GET", `/vm-controllers/${String(controlDomain)}`))
          .body as { memory: { size: number; static: number[] } }
      ).memory;
    const before = await memory();
    await admin.request("host.disable", { id });
    const browser = await openBrowser(t);
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path: `/hosts/${id}/advanced`,
      cookie: admin.cookie,
    });
    const main = page.getByRole("main");
    const name = "Control domain memory";
    await main.getByRole("button", { name }).click();
    const field = main.getByRole("spinbutton", { name });
    await field.fill("5");
    await field.press("Enter");
    await main.getByRole("button", { name: /memory.*5 GiB/ }).waitFor();
    await until(memory, ({ static: [, max] }) => max === 5 * 2 ** 30);
    t.equal((await memory()).size, before.size, "until it boots");
    await admin.request("host.restart", { id });
    await until(memory, ({ size }) => size === 5 * 2 ** 30);
    t.same(consoleErrors, []);
  },
);

t.test(
  "charts have a time range of one's own",
  { skip, ...LIMIT },
  async (t) => {
    const { admin, list, url } = await startStorageBench(t);
    // The coordinator: other hosts of the simulator are not reachable.
    const [pool] = await list("pools");
    const browser = await openBrowser(t);
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path: `/hosts/${String(pool!["master"])}/statistics`,
      cookie: admin.cookie,
    });
    const main = page.getByRole("main");
    await main.locator("canvas").first().waitFor();
    await main.getByText("Custom range…").click();
    const from = main.getByLabel("From");
    t.not(await from.inputValue(), "", "it begins with what is shown");
    const to = await main.getByLabel("Until").inputValue();
    await from.fill(to);
    await main.getByRole("button", { name: "Apply" }).click();
    await main.getByText("“From” must be before “Until”.").waitFor();
    const day = new Date(new Date(to).getTime() - 3 * 86_400_000);
    await from.fill(
      new Date(day.getTime() - day.getTimezoneOffset() * 60_000)
        .toISOString()
        .slice(0, 16),
    );
    await checkViews(t, page, "a time range of one's own");
    await main.getByRole("button", { name: "Apply" }).click();
    await page.waitForURL(/span=/);
    await main.locator("canvas").first().waitFor();
    t.same(consoleErrors, []);
  },
);

t.test(
  "a host joins a pool from the page of the pool",
  { skip, ...LIMIT },
  async (t) => {
    const { url } = await startOver(
      t,
      ["--hosts", "2", "--vms", "2", "--members", "1", "--pace", "0.1"],
      ["--pool", "host", "--seed", "9", "--pace", "0.1"],
    );
    const api = await ApiSession.open(t, url);
    const hosts = await api.all({ type: "host" });
    const pools = await api.all({ type: "pool" });
    const sizeOf = ({ id }: { readonly id: string }) =>
      hosts.filter((host) => host["$pool"] === id).length;
    const target = pools.find((pool) => sizeOf(pool) === 2)!;
    const source = pools.find((pool) => sizeOf(pool) === 1)!;
    const joiner = hosts.find((host) => host["$pool"] === source.id)!;
    const browser = await openBrowser(t);
    const token = String(await api.request("token.create", {}));
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path: "/",
      cookie: `authenticationToken=${token}`,
    });
    const { dialog, choose } = objectActions(t, page, url);
    const name = String(target["name_label"]);
    await choose(`/pools/${target.id}`, name, /^Add host/);
    await dialog.getByLabel("Host").selectOption(joiner.id);
    await checkViews(t, page, "the form of a host that joins");
    await dialog.getByLabel(`Type ${name} to confirm`).fill(name);
    await dialog.getByRole("button", { name: "Add host" }).click();
    await dialog.waitFor({ state: "detached" });
    await page
      .getByRole("main")
      .getByRole("link", { name: String(joiner["name_label"]) })
      .first()
      .waitFor({ timeout: 120_000 });
    await until(
      () => api.all({ type: "host", $pool: target.id }),
      (joined) => joined.length === 3,
    );
    t.same(consoleErrors, []);
  },
);
