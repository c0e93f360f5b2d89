import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import t from "tap";
import { PASSWORD } from "../api-session.js";
import { startControlled, type ControlledPools } from "../controlled-pools.js";
import { addProblems } from "../health-problems.js";
import { startStorageBench } from "../storage-bench.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");
const skip = noBrowserReason() ?? false;

t.test("the health page", { skip, ...LIMIT }, async (t) => {
  const { admin, list, url } = await startStorageBench(t);
  const [sr] = await list("srs", "shared? content_type:user");
  await admin.request("disk.create", {
    name: "left over",
    sr: sr!.id,
    size: 2 ** 30,
  });
  const browser = await openBrowser(t);
  const { page, consoleErrors } = await openPage(t, {
    browser,
    url,
    path: "/health-report",
    cookie: admin.cookie,
  });
  const main = page.getByRole("main");
  const card = main.getByRole("region", { name: /Disks without VM/ });
  await card.getByRole("cell", { name: "left over" }).waitFor();
  t.match(await card.textContent(), "No VM, template or snapshot uses");
  await main.getByRole("heading", { name: /checks? passed/ }).waitFor();
  await checkViews(t, page, "health");

  await main.getByRole("button", { name: "Check again" }).click();
  await card.getByRole("cell", { name: "left over" }).waitFor();
  await card.getByRole("link", { name: "Show in list" }).click();
  await page.waitForURL(/\/vdis\?q=/);
  await main.getByText("left over").waitFor();
  t.same(consoleErrors, []);
});

t.test(
  "each check whose objects are a list leads to it",
  { skip, ...LIMIT },
  async (t) => {
    const controlled = await startControlled(t, { hosts: 2, vms: 6 });
    addProblems(controlled);
    addMoreProblems(controlled);
    const { api, url } = controlled;
    const filter = "name_label:/^the very last$/";
    while ((await api.request("query.count", { type: "VM", filter })) === 0)
      await pause(20);
    const { checks } = (await api.request("health.getReport")) as {
      readonly checks: readonly Check[];
    };
    const browser = await openBrowser(t);
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path: "/health-report",
      cookie: await cookieOf(url),
    });
    const main = page.getByRole("main");
    const clicked: string[] = [];
    for (const { name, type, total, filter: listed } of checks) {
      if (total === 0) continue;
      const card = main.locator(`[aria-labelledby="health-${name}"]`);
      await card.waitFor();
      const link = card.getByRole("link", { name: "Show in list" });
      const hasList = listed !== undefined && type !== "VDI-snapshot";
      t.equal(await link.count(), hasList ? 1 : 0, name);
      if (!hasList) continue;
      await link.click();
      await main.locator(`[role=grid][aria-rowcount="${total + 1}"]`).waitFor();
      clicked.push(name);
      await page.goBack();
    }
    t.same(clicked.toSorted(), [
      "missingDisks",
      "noGuestTools",
      "oldSnapshots",
      "orphanDisks",
      "orphanVmSnapshots",
      "restartRequired",
      "toolstackRestartRequired",
      "vmRestartRequired",
    ]);
    t.same(consoleErrors, []);
  },
);

interface Check {
  readonly name: string;
  readonly type: string;
  readonly total: number;
  readonly filter?: string;
}

/** Problems that `addProblems` does not create, and a VM that marks that the mirror is complete. */
function addMoreProblems({ pools }: Pick<ControlledPools, "pools">): void {
  const { database } = pools[0]!;
  const guests = [...database.records("VM")].filter(
    ([, vm]) =>
      vm["is_control_domain"] === false &&
      vm["is_a_template"] === false &&
      vm["is_a_snapshot"] === false,
  );
  const [[ref, vm]] = guests as [[string, Readonly<Record<string, unknown>>]];
  const snapshot = (snapshot_of: string, name_label: string) =>
    database.create("VM", {
      ...vm,
      uuid: randomUUID(),
      name_label,
      VBDs: [],
      VIFs: [],
      power_state: "Halted",
      is_a_snapshot: true,
      snapshot_time: "20200101T00:00:00Z",
      snapshot_of,
    });
  snapshot(ref, "old");
  snapshot("OpaqueRef:NULL", "of no VM");
  const [[host, { other_config: config }]] = [...database.records("host")] as [
    [string, Readonly<Record<string, object>>],
  ];
  // XCP-ng: updates were installed after its boot.
  database.update("host", host, {
    other_config: {
      ...config,
      boot_time: "1600000000.",
      rpm_patch_installation_time: "1600000001.0",
    },
  });
  const [running] = guests.find(([, one]) => one["power_state"] === "Running")!;
  database.update("VM", running, {
    guest_metrics: "OpaqueRef:NULL",
    name_label: "the very last",
  });
}

async function cookieOf(url: string): Promise<string> {
  const login = await fetch(`${url}/rest/v0/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "admin", password: PASSWORD }),
  });
  return login.headers
    .getSetCookie()
    .find((cookie) => cookie.startsWith("authenticationToken="))!
    .split(";")[0]!;
}
