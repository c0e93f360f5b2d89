import { setTimeout as pause } from "node:timers/promises";
import t from "tap";
import { ApiSession } from "./api-session.js";
import { startMailingServer } from "./mailing-server.js";

t.comment("timeout=300000");

interface Run {
  readonly status: string;
  readonly error?: { readonly message: string };
}

interface Plan {
  readonly subject: string;
  readonly figures: {
    readonly comparedWith?: number;
    readonly pools: readonly {
      readonly name: string;
      readonly hosts: number;
      readonly vms: number;
      readonly cpu: number | null;
      readonly silentHosts: readonly string[];
      readonly before?: { readonly vms: number };
      readonly top: Readonly<
        Record<string, readonly { readonly name: string }[]>
      >;
    }[];
  };
}

async function run(api: ApiSession, id: string): Promise<Run> {
  const begun = (await api.request("job.runNow", { id })) as { runId: string };
  for (;;) {
    const one = (await api.request("jobRun.get", { id: begun.runId })) as Run;
    if (one.status !== "pending") return one;
    await pause(20);
  }
}

/** The text of a part of a message in base64 or quoted-printable. */
function partOf(letter: string, type: string): string {
  const part = letter
    .split(/\r\n--/)
    .find((one) => new RegExp(`content-type: ${type}`, "i").test(one))!;
  const text = part.slice(part.indexOf("\r\n\r\n") + 4);
  return /encoding: base64/i.test(part)
    ? Buffer.from(text, "base64").toString()
    : Buffer.from(
        text
          .replaceAll("=\r\n", "")
          .replace(/=([0-9A-F]{2})/g, (_, hex: string) =>
            String.fromCharCode(parseInt(hex, 16)),
          ),
        "latin1",
      ).toString();
}

t.test("a usage report is sent, and compared with the last one", async (t) => {
  const { letters, api } = await startMailingServer(t);
  const pools = await api.all({ type: "pool" });
  const vms = await api.all({ type: "VM" });
  await api.request("vm.set", { id: vms[0]!.id, name_label: "<b>&=1+1" });
  const job = {
    type: "usageReport",
    name: "weekly",
    top: 3,
    addresses: ["ops@example.org"],
  };
  const id = String(await api.request("job.create", { job }));
  const plan = (await api.request("job.plan", { id })) as Plan;
  t.match(plan.subject, /^weekly: \d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d$/);
  const [first] = plan.figures.pools;
  t.match(first, { hosts: 2, vms: vms.length, silentHosts: [] });
  t.ok(first!.cpu! > 0 && first!.cpu! < 100, `${first!.cpu} percent`);
  t.equal(first!.before, undefined, "there is no last period");
  t.ok(first!.top["vmCpu"]!.length > 0 && first!.top["vmCpu"]!.length <= 3);

  t.match(await run(api, id), { status: "success" });
  t.equal(letters.length, 1);
  const [letter] = letters as [string];
  t.match(letter, /^To: ops@example\.org$/m);
  const html = partOf(letter, "text/html");
  t.match(
    html,
    `<h2 style="font-size:17px">${String(pools[0]!["name_label"])}`,
  );
  t.notMatch(html, "<b>", "names are not markup");
  const csv = partOf(letter, "text/csv");
  t.match(
    csv,
    /^pool,pool id,figure,object,object id,unit,value,last period\r\n/,
  );
  t.match(csv, new RegExp(`,VMs,,,,${vms.length},\r\n`));

  await api.request("vm.delete", { id: vms.at(-1)!.id }).catch(() =>
    // A running VM is shut down first.
    api
      .request("vm.stop", { id: vms.at(-1)!.id, force: true })
      .then(() => api.request("vm.delete", { id: vms.at(-1)!.id })),
  );
  t.match(await run(api, id), { status: "success" });
  t.match(partOf(letters[1]!, "text/html"), "\u22121", "one VM less");
  t.match(
    partOf(letters[1]!, "text/csv"),
    `,VMs,,,,${vms.length - 1},${vms.length}\r\n`,
  );

  await t.test("only what an administrator may read is sent", async (t) => {
    const { id: userId, session: eve } = await api.signUp(t, "eve");
    const other = { ...job, name: "eve's", userId };
    const jobId = String(await api.request("job.create", { job: other }));
    t.match(await run(api, jobId), {
      status: "failure",
      error: { code: "FORBIDDEN" },
    });
    t.equal(letters.length, 2);
    t.match(await eve.call("job.plan", { id }), { error: { code: 2 } });
  });

  await t.test("what is wrong with a job is refused by its name", async (t) => {
    const refused = async (more: object) =>
      (await api.call("job.create", { job: { ...job, ...more } })).error;
    t.match(await refused({ addresses: ["nobody"] }), {
      data: { reason: /^job\.addresses\[0\] must match/ },
    });
    t.match(await refused({ addresses: [] }), {
      data: { reason: /^job\.addresses must NOT have fewer/ },
    });
    t.match(await refused({ period: "year" }), {
      data: { reason: /^job\.period must be one of day, week, month/ },
    });
    const unknown = { ...job, pools: ["no such pool"] };
    const jobId = String(await api.request("job.create", { job: unknown }));
    t.match(await run(api, jobId), {
      status: "failure",
      error: { code: "NO_SUCH_OBJECT" },
    });
  });
});
