import t, { type Test } from "tap";
import { ApiSession, PASSWORD, type Thing } from "./api-session.js";
import { seededRandom } from "./faults/seeded-random.js";
import { startNoticeSinks } from "./notice-sinks.js";
import { RunningProgram } from "./running-program.js";
import { simulate, type Simulated } from "./simulated.js";
import { StatusPage } from "./status-page.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
t.comment("timeout=400000");

/** Number of restarts; set it for more, for example 100. */
const RESTARTS = Number(process.env["XO_ALARM_RESTARTS"] ?? 4);
const SEED = Number(process.env["XO_ALARM_SEED"] ?? 1);

/** Options of the simulator. */
const FLEET = ["--hosts", "2", "--vms", "12", "--pace", "0"];

/** A XAPI client of the pool: its changes bypass the server. */
async function openPool({ url, user, password }: Simulated) {
  const call = async (method: string, ...params: unknown[]) => {
    const answer = await fetch(`${url}/jsonrpc`, {
      method: "POST",
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result, error } = (await answer.json()) as {
      readonly result: unknown;
      readonly error?: { readonly message: string };
    };
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  const session = await call("session.login_with_password", user, password);
  return {
    find: async (uuid: string) =>
      (await call("VM.get_by_uuid", session, uuid)) as string,
    start: (ref: string) => call("VM.start", session, ref, false, false),
    stop: (ref: string) => call("VM.hard_shutdown", session, ref),
  };
}

t.test(
  "restarts lose no notice and send none for nothing",
  { timeout: 24 * 3_600_000 },
  async (t) => {
    const random = seededRandom(SEED);
    const [simulated] = await simulate(t, ...FLEET);
    const sinks = await startNoticeSinks(t);
    const cwd = t.testdir({
      "config.yaml": [
        "inventory: { checkpointMs: 200 }",
        `mail: { host: 127.0.0.1, port: ${sinks.mailPort}, security: none }`,
        `pools: [{ label: P, hosts: ["${simulated!.url}"], password: ${simulated!.password} }]`,
      ].join("\n"),
    });
    const start = () => startServer(t, cwd);
    let running = await start();

    const pool = await openPool(simulated!);
    const vms = await running.api.all({ type: "VM" });
    const refs = new Map<string, string>();
    for (const { id } of vms) refs.set(id, await pool.find(id));
    /** Ids of the VMs that are halted according to the pool. */
    const halted = new Set(
      vms.filter((vm) => vm["power_state"] === "Halted").map(({ id }) => id),
    );
    /** `raised ID` and `ended ID` of all notices, in the order of the changes. */
    const expected = [...halted].map((id) => `raised ${id}`);
    const toggle = async (id: string) => {
      const ref = refs.get(id)!;
      if (halted.delete(id)) await pool.start(ref);
      else {
        await pool.stop(ref);
        halted.add(id);
      }
    };
    const change = async (id: string) => {
      await toggle(id);
      expected.push(`${halted.has(id) ? "raised" : "ended"} ${id}`);
    };
    const evaluated = () => areAlarms(running, halted);

    await running.api.request("alarmRule.create", ruleFor(vms, sinks.hookUrl));
    await evaluated();

    for (let restart = 1; restart <= RESTARTS; restart++) {
      const ids = vms.map(({ id }) => id);
      const [a, b, c] = Array.from(
        { length: 3 },
        () => ids.splice(random(ids.length), 1)[0]!,
      ) as [string, string, string];
      // The server may not have received the change, or may be about to send its notice.
      if (random(2) === 0) await change(a);
      const signal = random(2) === 0 ? "SIGKILL" : "SIGTERM";
      await running.server.stop(signal);
      if (random(2) === 0) await change(b);
      if (random(2) === 0) {
        await toggle(c);
        await toggle(c);
      }
      running = await start();
      await evaluated();
    }
    // Notices of this change arrive after those of earlier alarms, also of those that were raised and
    // cleared meanwhile.
    await change(vms[0]!.id);
    await evaluated();
    // A notice that was being sent when the server was killed is sent again after two minutes.
    await sinks.until(expected.length);
    t.same(
      sinks.alarms().toSorted(),
      expected.toSorted(),
      `${RESTARTS} restarts, ${expected.length} notices`,
    );
    const { hooks, mails } = sinks.counts();
    t.equal(mails, hooks, "as many mails as calls of the webhook");
    t.comment(`${RESTARTS} restarts, ${expected.length} alarms and ends`);
  },
);

async function startServer(t: Test, cwd: string) {
  const args = ["start", "--host", "127.0.0.1", "--port", "0"];
  const env = { XO_ADMIN_PASSWORD: PASSWORD };
  const server = new RunningProgram(t, "xo-server", args, { cwd, env });
  const url = await server.find(/Web server listening on (http:\S+)/);
  const page = await StatusPage.open(t, url, PASSWORD);
  await page.until(({ pools }) => pools["p"]?.state === "watching");
  return { server, page, api: await ApiSession.open(t, url) };
}

/** Waits until the open alarms are those of the halted VMs. */
function areAlarms(
  { page, api }: Awaited<ReturnType<typeof startServer>>,
  halted: ReadonlySet<string>,
): Promise<unknown> {
  return page.until(async () => {
    const answer = await api.rest("GET", "/raised-alarms?fields=*&open=true");
    const open = (await answer.json()) as { readonly objectId: string }[];
    const ids = new Set(open.map(({ objectId }) => objectId));
    return ids.size === halted.size && [...ids].every((id) => halted.has(id));
  });
}

/** An alarm for each of these VMs that is halted. */
function ruleFor(vms: readonly Thing[], hookUrl: string) {
  return {
    name: "halted",
    on: {
      kind: "object",
      type: "VM",
      filter: `power_state:Halted id:|(${vms.map(({ id }) => id).join(" ")})`,
    },
    forSeconds: 0,
    targets: [
      { kind: "web-hook", url: hookUrl },
      { kind: "e-mail", addresses: ["ops@example.org"] },
    ],
  };
}
