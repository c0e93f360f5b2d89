import { setTimeout as pause } from "node:timers/promises";
import t from "tap";
import { ApiSession, PASSWORD } from "./api-session.js";
import { RunningProgram } from "./running-program.js";
import { simulate } from "./simulated.js";
import { StatusPage } from "./status-page.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");

const SIZE = ["--hosts", "3", "--vms", "4", "--seed", "3", "--pace", "0.3"];

interface Task {
  readonly status: string;
  readonly result?: object;
  readonly properties: { readonly name: string };
  readonly tasks: readonly Task[];
}

interface Row {
  readonly id: string;
  readonly startTime: number;
  readonly $container: string;
  readonly enabled: boolean;
}

/** State of the pool: starts of hosts, and the hosts of VMs. */
async function lookAt(session: ApiSession) {
  const read = async (path: string) =>
    (await (await session.rest("GET", path)).json()) as Row[];
  const hosts = await read("/hosts?fields=*");
  const vms = await read("/vms?fields=*&filter=power_state:Running");
  return {
    starts: new Map(hosts.map(({ id, startTime }) => [id, startTime])),
    areEnabled: hosts.every(({ enabled }) => enabled),
    places: Object.fromEntries(vms.map((vm) => [vm.id, vm.$container])),
  };
}

for (const [kind, step] of [
  ["reboot", "evacuate"],
  ["reboot", "reboot"],
  ["update", "install updates"],
  ["update", "wait for the host"],
] as const)
  t.test(
    `a rolling ${kind} continues after the server was killed at "${step}"`,
    LIMIT,
    async (t) => {
      const [pool] = await simulate(t, ...SIZE);
      const cwd = t.testdir({
        "config.yaml": `pools: [{ label: P, hosts: ["${pool!.url}"], password: ${pool!.password} }]`,
      });
      const start = async () => {
        const args = ["start", "--host", "127.0.0.1", "--port", "0"];
        const env = { XO_ADMIN_PASSWORD: PASSWORD };
        const server = new RunningProgram(t, "xo-server", args, { cwd, env });
        const url = await server.find(/Web server listening on (http:\S+)/);
        const page = await StatusPage.open(t, url, PASSWORD);
        await page.until(({ pools }) => pools["p"]?.state === "watching");
        return { server, session: await ApiSession.open(t, url) };
      };
      const { server, session: first } = await start();
      const before = await lookAt(first);
      const [{ id }] = (await (
        await first.rest("GET", "/pools?fields=id")
      ).json()) as [Row];
      const path = `/pools/${id}/actions/rolling_${kind}`;
      const begun = await first.rest("POST", path, {});
      const { taskId } = (await begun.json()) as { taskId: string };
      const task = async (session: ApiSession, query = "") =>
        (await (
          await session.rest("GET", `/tasks/${taskId}${query}`)
        ).json()) as Task;
      /** The operation is at this step for the second host. */
      const isThere = ({ tasks }: Task) =>
        tasks[1]?.tasks.at(-1)?.properties.name === step;
      while (!isThere(await task(first))) await pause(20);
      const done = await lookAt(first);
      await server.stop("SIGKILL");

      const { session } = await start();
      const again = await session.rest("POST", `${path}?sync=true`, {});
      t.equal(again.status, 409, "no other user begins one meanwhile");
      const ended = await task(session, "?wait=true");
      t.equal(ended.status, "success", JSON.stringify(ended));
      const after = await lookAt(session);
      if (kind === "reboot")
        t.same(after.places, before.places, "VMs are where they were");
      else
        t.same(
          Object.keys(after.places).sort(),
          Object.keys(before.places).sort(),
          "all VMs run",
        );
      t.ok(after.areEnabled);
      for (const [host, startTime] of before.starts) {
        t.ok(after.starts.get(host)! > startTime, "rebooted");
        if (done.starts.get(host)! > startTime)
          t.equal(after.starts.get(host), done.starts.get(host), "once");
      }
    },
  );
