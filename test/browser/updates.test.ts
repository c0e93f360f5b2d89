/// <reference lib="dom" />
import t from "tap";
import { ApiSession, startOver } from "../api-session.js";
import { checkViews, openPage } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 360_000 };
t.comment("timeout=360000");
const skip = noBrowserReason() ?? false;

/** Pools of which all VMs can be migrated. */
const SIZES = [
  ["--hosts", "3", "--vms", "4", "--seed", "3", "--pace", "0.1"],
  ["--hosts", "3", "--vms", "4", "--seed", "14", "--pace", "0.1"],
];

async function startPage(t: Test, path: (pools: readonly Pool[]) => string) {
  const { url } = await startOver(t, ...SIZES);
  const api = await ApiSession.open(t, url);
  const pools: Pool[] = [];
  for (const { id } of await api.all({ type: "pool" })) {
    const name = `Site ${pools.length + 1}`;
    await api.request("pool.set", { id, name_label: name });
    pools.push({ id, name });
  }
  const token = String(await api.request("token.create", {}));
  const browser = await openBrowser(t);
  const opened = await openPage(t, {
    browser,
    url,
    path: path(pools),
    cookie: `authenticationToken=${token}`,
  });
  return { ...opened, url, api, pools };
}
/** A maintenance window that no run of this test reaches. */
function dayAfterTomorrow() {
  const day = new Date(Date.now() + 48 * 3_600_000).toLocaleDateString("en", {
    timeZone: "UTC",
    weekday: "short",
  });
  return { days: [day.toLowerCase()], from: "00:00", to: "00:00" };
}

type Test = Parameters<typeof openPage>[0];
interface Pool {
  readonly id: string;
  readonly name: string;
}

t.test(
  "a pool is updated from its page: plan, progress, suspension, end",
  { skip, ...LIMIT },
  async (t) => {
    const bench = await openPoolUpdates(t);
    await missingUpdates(t, bench);
    await cancelAndAbandon(t, bench);
    await startFromPlan(t, bench);
    await progressAndEnd(t, bench);
  },
);

type PoolUpdates = Awaited<ReturnType<typeof openPoolUpdates>>;

async function openPoolUpdates(t: Test) {
  const { page, consoleErrors, api, pools } = await startPage(
    t,
    ([pool]) => `/pools/${pool!.id}/updates`,
  );
  const [{ id: pool, name }] = pools as [Pool];
  const main = page.getByRole("main");
  const dialog = page.getByRole("dialog");
  const hosts = await api.all({ type: "host", $pool: pool });

  const left = hosts.length;
  return { page, consoleErrors, api, pool, name, main, dialog, hosts, left };
}

async function missingUpdates(t: Test, { hosts, main, page }: PoolUpdates) {
  // Missing updates of each host, with what they need afterwards.
  for (const { name_label } of hosts) {
    const row = main
      .getByRole("group", { name: "Updates of hosts" })
      .getByRole("row", { name: String(name_label) });
    await row.getByText("reboot of the host").waitFor();
  }
  await main.getByText("xapi-core").first().waitFor();
  await checkViews(t, page, "updates of a pool");
}

async function cancelAndAbandon(
  t: Test,
  { api, pool, main, page }: PoolUpdates,
) {
  // Cancelled while it waits for its maintenance window, then abandoned: no host is updated.
  const windows = { timezone: "UTC", ranges: [dayAfterTomorrow()] };
  await api.rest("POST", `/pools/${pool}/actions/rolling_update`, {
    windows,
  });
  await main.getByRole("button", { name: "Cancel rolling update" }).click();
  const abandon = main.getByRole("button", {
    name: "Abandon rolling update",
  });
  await abandon.waitFor();
  await checkViews(t, page, "rolling update that has stopped");
  await abandon.click();
  await abandon.waitFor({ state: "hidden" });
  t.match(await api.request("pool.getRollingState", { pool }), {
    current: null,
    last: { stopped: /aborted/ },
  });
}

async function startFromPlan(
  t: Test,
  { main, dialog, left, page, name }: PoolUpdates,
) {
  // The plan, before anything is begun.
  await main.getByRole("button", { name: /^Rolling update/ }).click();
  const line = dialog.getByRole("list", { name: "Hosts over time" });
  await line
    .getByRole("listitem")
    .nth(left - 1)
    .waitFor();
  t.equal(await line.getByRole("listitem").count(), left);
  await dialog.getByText(new RegExp(`${left} hosts in \\d steps`)).waitFor();
  await dialog.getByLabel("Only in a maintenance window").check();
  await dialog.getByText(/The first step starts/).waitFor();
  await dialog.getByRole("button", { name: "Add maintenance window" }).click();
  await dialog.getByRole("group", { name: "Maintenance window 2" }).waitFor();
  await checkViews(t, page, "plan of a rolling update");
  await dialog
    .getByRole("button", { name: "Remove maintenance window 2" })
    .click();
  await dialog.getByLabel("Only in a maintenance window").uncheck();
  await dialog.getByLabel(`Type ${name} to confirm`).fill(name);
  await dialog.getByRole("button", { name: /^Rolling update/ }).click();
}

async function progressAndEnd(
  t: Test,
  { main, left, page, hosts, api, consoleErrors }: PoolUpdates,
) {
  // Live progress; suspended after a step, then continued.
  await main
    .getByText(new RegExp(`^In progress: \\d of ${left} hosts`))
    .waitFor();
  await main.getByRole("button", { name: "Suspend" }).click();
  await main.getByText(/^In progress, will be suspended|^Suspended:/).waitFor();
  await main
    .getByText(new RegExp(`^Suspended: [123] of ${left} hosts`))
    .waitFor();
  await checkViews(t, page, "suspended rolling update");
  await main.getByRole("button", { name: "Continue" }).click();
  await main
    .getByText(new RegExp(`^Last run .*: ${left} of ${left} hosts`))
    .waitFor();
  const past = main.getByRole("list", { name: "Hosts over time" });
  t.equal(await past.getByRole("listitem").count(), left, "what it did");
  for (const { id } of hosts)
    t.same(await api.request("pool.listMissingPatches", { host: id }), []);
  await main.getByRole("button", { name: "Refresh" }).click();
  await main.getByText("No missing updates.").waitFor();
  t.same(consoleErrors, []);
}

t.test(
  "pools are updated in groups by a job that is created on the page",
  { skip, ...LIMIT },
  async (t) => {
    const bench = await openUpdates(t);
    await createJob(t, bench);
    await runJob(t, bench);
    await editJob(t, bench);
    await scheduleAndDeleteJob(t, bench);
  },
);

type Updates = Awaited<ReturnType<typeof openUpdates>>;

async function openUpdates(t: Test) {
  const { page, consoleErrors, api, pools } = await startPage(
    t,
    () => "/updates",
  );
  const [first, second] = pools as [Pool, Pool];
  const main = page.getByRole("main");
  const dialog = page.getByRole("dialog");
  const button = (label: string | RegExp) =>
    dialog.getByRole("button", { name: label });
  for (const { name } of pools) await main.getByRole("row", { name }).waitFor();
  await main.getByText("No scheduled rolling updates").waitFor();
  await checkViews(t, page, "updates without jobs");

  const window = dialog.getByRole("group", { name: "Maintenance window" });
  const job = main.getByRole("region", { name: "monthly" });
  return {
    page,
    consoleErrors,
    api,
    first,
    second,
    main,
    dialog,
    button,
    window,
    job,
  };
}

async function createJob(
  t: Test,
  { main, button, dialog, second, first, window, page, job, api }: Updates,
) {
  // A job needs a name and pools.
  await main.getByRole("button", { name: "Add rolling update" }).click();
  await button("Save").click();
  await dialog.getByText("At least one pool must be in a group.").waitFor();
  await dialog.getByLabel("Name", { exact: true }).fill("monthly");
  await dialog.getByLabel(second.name).selectOption("1");
  await dialog.getByLabel(first.name).selectOption("2");
  await dialog.getByText(`${second.name} → ${first.name}`).waitFor();
  await dialog.getByLabel("Frequency").selectOption("monthly");
  await dialog.getByLabel("Only in a maintenance window").check();
  await window.getByLabel("From").fill("00:00");
  await window.getByLabel("To").fill("00:00");
  await window.getByLabel("Time zone").selectOption("UTC");
  await checkViews(t, page, "form of a rolling update");
  await button("Save").click();
  await job.getByText("every day 00:00–00:00 (UTC)").waitFor();
  await job.getByText("never run").waitFor();
  t.match(await api.request("job.getAll"), [
    {
      type: "rollingUpdate",
      groups: [[second.id], [first.id]],
      windows: {
        timezone: "UTC",
        ranges: [{ from: "00:00", to: "00:00" }],
      },
    },
  ]);
  t.match(await api.request("schedule.getAll"), [{ enabled: true }]);
  await checkViews(t, page, "jobs of rolling updates");
}

async function runJob(t: Test, { job, page, api }: Updates) {
  // It runs: the second group waits for the first.
  await job.getByRole("button", { name: "Run now" }).click();
  const groups = job.getByRole("list", { name: "Groups of pools" });
  await groups.getByText("in progress", { exact: true }).first().waitFor();
  await groups.getByText("waiting", { exact: true }).waitFor();
  await checkViews(t, page, "rolling update in progress");
  await job.getByText("succeeded", { exact: true }).waitFor();
  await groups.getByText("updated", { exact: true }).nth(1).waitFor();
  for (const { id } of await api.all({ type: "host" }))
    t.same(await api.request("pool.listMissingPatches", { host: id }), []);
}

async function editJob(
  t: Test,
  { job, page, window, dialog, second, first, button, api }: Updates,
) {
  // It is edited: windows and groups are as they were.
  await job.getByRole("button", { name: /Actions/ }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  t.equal(await window.getByLabel("Time zone").inputValue(), "UTC");
  t.equal(await dialog.getByLabel(second.name).inputValue(), "1");
  await dialog.getByLabel(first.name).selectOption("1");
  await dialog.getByLabel("Only in a maintenance window").uncheck();
  await button("Save").click();
  await job.getByText("at any time").waitFor();
  const [edited] = (await api.request("job.getAll")) as [
    { groups: string[][]; windows?: object },
  ];
  t.same(
    edited.groups.map((group) => group.toSorted()),
    [[first.id, second.id].toSorted()],
  );
  t.equal(edited.windows, undefined);
}

async function scheduleAndDeleteJob(
  t: Test,
  { job, page, button, main, api, consoleErrors }: Updates,
) {
  // It gets a schedule, and is deleted with it.
  await job.getByRole("button", { name: /Actions/ }).click();
  await page.getByRole("menuitem", { name: "Add schedule" }).click();
  await button("Save").click();
  await job.getByRole("button", { name: /01:30/ }).waitFor();

  await job.getByRole("button", { name: /Actions/ }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await button("Delete").click();
  await main.getByText("No scheduled rolling updates").waitFor();
  t.same(await api.request("job.getAll"), []);
  t.same(consoleErrors, []);
}
