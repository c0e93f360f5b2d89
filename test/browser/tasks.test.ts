import t, { type Test } from "tap";
import { startStorageBench } from "../storage-bench.js";
import { violations } from "./axe.js";
import { openPage, wide, type View } from "./browser-page.js";
import { noBrowserReason, openBrowser } from "./chromium.js";

// Real programs and a browser on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 180_000 };
t.comment("timeout=180000");
const skip = noBrowserReason() ?? false;

t.test("tasks and activity", { skip, ...LIMIT }, async (t) => {
  const bench = await startStorageBench(t);
  const { admin, list, url } = bench;
  const vms = await list("vms", "power_state:Running");
  const named = (at: number) => String(vms[at]!["name_label"]);
  const act = (at: number, action: string) =>
    admin.rest("POST", `/vms/${vms[at]!.id}/actions/${action}`, {});
  const browser = await openBrowser(t);

  const open = async (t: Test, path: string, view: View = wide) => {
    const { page, consoleErrors } = await openPage(t, {
      browser,
      url,
      path,
      cookie: admin.cookie,
      view,
    });
    await page.getByRole("heading", { level: 1 }).waitFor();
    return { page, main: page.getByRole("main"), consoleErrors };
  };

  t.test("a task appears, ends, and is notified once", async (t) => {
    const { page, main, consoleErrors } = await open(t, "/tasks");
    const row = (at: number) =>
      main
        .getByRole("listitem")
        .filter({ hasText: named(at), hasNotText: "pool task" });
    await page.getByText("No tasks").waitFor();
    await act(0, "clean_shutdown");
    await row(0).getByText("Running").waitFor();
    await page.getByRole("button", { name: /running$/ }).waitFor();
    await row(0).getByText("Succeeded", { exact: true }).waitFor();
    await page.getByText("Done: clean shutdown VM").waitFor();
    await row(0)
      .getByRole("button", { name: /^Subtasks of/ })
      .click();
    await row(0).getByText("Shut down").waitFor();
    await act(1, "start");
    await row(1).getByText("Failed", { exact: true }).waitFor();
    await row(1).getByText("The VM is running").waitFor();
    await page.getByText("Failed: start VM").waitFor();
    await act(1, "clean_shutdown");
    const shutdown = row(1).filter({ hasText: "clean shutdown VM" });
    await shutdown.getByText("Succeeded", { exact: true }).waitFor();
    await row(1).getByRole("button", { name: "Retry start VM" }).click();
    const again = main
      .getByRole("listitem")
      .filter({ hasText: /^Start(?! VM)/ });
    await again.getByText("Succeeded", { exact: true }).first().waitFor();
    await page.getByText("Failed", { exact: true }).first().click();
    await row(0).waitFor({ state: "detached" });
    await page.waitForURL(/state=failure/);
    t.same(consoleErrors, []);
  });

  t.test("tasks are searched", async (t) => {
    const { page, main, consoleErrors } = await open(t, "/tasks?of=ours");
    await act(12, "clean_shutdown");
    const rows = main.getByRole("listitem");
    await rows
      .filter({ hasText: named(12) })
      .first()
      .waitFor();
    await main.getByLabel("Search").fill(named(12));
    await page.waitForURL(/q=/);
    await rows
      .filter({ hasText: named(0) })
      .first()
      .waitFor({
        state: "detached",
      });
    await rows
      .filter({ hasText: named(12) })
      .first()
      .waitFor();
    t.same(await violations(page), []);
    await main.getByLabel("Search").fill("no such task");
    await page.getByText("No matching tasks.").waitFor();
    await main.getByRole("button", { name: "Reset" }).click();
    await main
      .getByRole("combobox", { name: "User" })
      .selectOption({ label: "admin" });
    await main.getByLabel("From").fill("2000-01-01T00:00");
    await rows
      .filter({ hasText: named(12) })
      .first()
      .waitFor();
    await main.getByLabel("Until").fill("2000-01-02T00:00");
    await page.getByText("No matching tasks.").waitFor();
    t.same(consoleErrors, []);
  });

  t.test("a task is cancelled", async (t) => {
    const { page, main } = await open(t, "/tasks");
    const ids = vms.slice(2, 12).map(({ id }) => id);
    const body = { method: "vm.stop", ids, concurrency: 1 };
    t.equal((await admin.rest("POST", "/bulk", body)).status, 202);
    await main.getByRole("button", { name: "Cancel vm.stop" }).click();
    await main
      .getByRole("listitem")
      .filter({ hasText: "vm.stop" })
      .first()
      .getByText(/^(Failed|Interrupted)$/)
      .first()
      .waitFor();
    t.equal(
      await page.getByText(/tasks? done/).count(),
      0,
      "what is done to many has a toast of its own",
    );
  });

  t.test("the tray shows the last, and clears them", async (t) => {
    const { page, consoleErrors } = await open(t, "/activity");
    await page.getByRole("button", { name: /^Tasks$|running$/ }).click();
    const tray = page.getByRole("dialog", { name: "Tasks" });
    await tray.getByText("clean shutdown VM").first().waitFor();
    t.same(await violations(page), []);
    await tray.getByRole("button", { name: "Clear ended tasks" }).click();
    await tray.getByText("No running tasks").waitFor();
    t.same(consoleErrors, []);
  });

  t.test("new events wait behind a button, and move nothing", async (t) => {
    const { page, main, consoleErrors } = await open(t, "/activity");
    const first = main.getByRole("listitem").first();
    await main.getByText(`${named(0)} stopped`).waitFor();
    await main
      .getByText(/· admin$/)
      .first()
      .waitFor();
    const before = await first.textContent();
    await act(0, "start");
    const news = page.getByRole("button", { name: /^\d+ new$/ });
    await news.waitFor();
    t.equal(await first.textContent(), before);
    await news.click();
    await main.getByText(`${named(0)} started on`).waitFor();
    await news.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Snapshots" }).click();
    await main.getByText("No events").waitFor();
    await page.waitForURL(/kinds=snapshots/);
    t.same(consoleErrors, []);
  });

  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [1440, 390])
      t.test(
        `no accessibility violations: ${colorScheme}, ${width}`,
        async (t) => {
          const { page, main } = await open(t, "/activity", {
            colorScheme,
            width,
          });
          await main.getByText("stopped").first().waitFor();
          t.same(await violations(page), []);
          await page.goto(`${url}/#/tasks`);
          await page
            .getByRole("button", { name: "Clear ended tasks" })
            .waitFor();
          t.same(await violations(page), []);
        },
      );
});
