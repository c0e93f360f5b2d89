import { setTimeout as pause } from "node:timers/promises";
import t from "tap";
import { ApiSession, PASSWORD } from "./api-session.js";
import { untilBegun } from "./pool-tasks.js";
import { RunningProgram } from "./running-program.js";
import { simulate } from "./simulated.js";
import { StatusPage } from "./status-page.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");

const GiB = 2 ** 30;

t.test(
  "a server killed while it creates VMs leaves no partial VM",
  LIMIT,
  async (t) => {
    const [pool] = await simulate(t, "--hosts", "1", "--vms", "4");
    const { url: poolUrl, password } = pool!;
    const cwd = t.testdir({
      "config.yaml": `pools: [{ label: P, hosts: ["${poolUrl}"], password: ${password} }]`,
    });
    const start = async () => {
      const args = ["start", "--host", "127.0.0.1", "--port", "0"];
      const env = { XO_ADMIN_PASSWORD: PASSWORD };
      const server = new RunningProgram(t, "xo-server", args, { cwd, env });
      const url = await server.find(/Web server listening on (http:\S+)/);
      const page = await StatusPage.open(t, url, PASSWORD);
      await page.until(({ pools }) => pools["p"]?.state === "watching");
      return { server, api: await ApiSession.open(t, url) };
    };
    const { server, api } = await start();
    const slow = async (method: string, delayMs: number) => {
      const body = JSON.stringify({ method, delayMs });
      await fetch(`${poolUrl}/sim/fail`, { method: "POST", body });
    };
    const counts = (session: ApiSession) =>
      Promise.all(
        ["VM", "VM-template", "VDI", "VBD"].map(
          async (type) => (await session.all({ type })).length,
        ),
      );
    const debian = { type: "VM-template", name_label: "Debian Bookworm 12" };
    const [template] = await api.all(debian);
    const [$pool] = await api.all({ type: "pool" });
    const srs = { type: "SR", shared: true, content_type: "user" };
    const [sr] = await api.all(srs);
    const begin = async (action: string, more: object) => {
      const answer = await api.rest(
        "POST",
        `/pools/${$pool!.id}/actions/${action}`,
        { template: template!.id, vdis: [{ sr: sr!.id, size: GiB }], ...more },
      );
      return ((await answer.json()) as { taskId: string }).taskId;
    };
    const before = await counts(api);
    await slow("VDI.create", 20_000);
    const one = await begin("create_vm", { name_label: "one" });
    while ((await api.all({ name_label: "one" })).length === 0) await pause(50);
    await slow("VDI.create", 20_000);
    const several = await begin("create_vms", { names: ["whole", "half"] });
    while ((await api.all({ name_label: "whole" })).length === 0)
      await pause(50);
    while ((await api.all({ name_label: "half" })).length === 0)
      await pause(50);
    await untilBegun(api, "VDI.create", 2);
    const parts = async () => {
      const answer = await api.rest("GET", `/tasks/${several}`);
      const { tasks = [] } = (await answer.json()) as {
        readonly tasks?: readonly { readonly status: string }[];
      };
      return tasks.map(({ status }) => status);
    };
    while (!(await parts()).includes("success")) await pause(50);
    await server.stop("SIGKILL");

    const { api: later } = await start();
    const end = async (id: string) =>
      (await (await later.rest("GET", `/tasks/${id}?wait=true`)).json()) as {
        readonly status: string;
        readonly result: { readonly message: string };
      };
    const [first, second] = await Promise.all([end(one), end(several)]);
    t.match(first.result.message, /one was created partially, and was deleted/);
    t.match(second.result.message, /was created/);
    t.match(second.result.message, /was created partially, and was deleted/);
    const created = await later.all({ type: "VM" });
    const kept = created.filter(({ name_label }) =>
      /^(one|whole|half)$/.test(String(name_label)),
    );
    t.equal(kept.length, 1, "the one that was whole");
    await later.request("vm.delete", { id: kept[0]!.id });
    t.same(await counts(later), before);
  },
);
