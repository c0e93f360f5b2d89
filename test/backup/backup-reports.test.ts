import { once } from "node:events";
import { rename } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { startControlled } from "../controlled-pools.js";
import { createRepository } from "./repository-folders.js";
import { lastRun, runJob, withSmallDisks } from "./vm-with-disks.js";

t.comment("timeout=300000");

interface Report {
  readonly event: string;
  readonly status: string;
  readonly job: { readonly name: string };
  readonly log: object;
}

/** A receiver of reports. */
async function startReceiver(t: Test) {
  const reports: Report[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (part: string) => (text += part));
    request.on("end", () => {
      response.end();
      reports.push(JSON.parse(text) as Report);
      server.emit("report");
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/reports`,
    next: async (): Promise<Report> => {
      while (reports.length === 0) await once(server, "report");
      return reports.shift()!;
    },
  };
}

t.test("runs are reported, and can have settings of their own", async (t) => {
  const controlled = await startControlled(t, { hosts: 1, vms: 6 });
  const { api } = controlled;
  const { id: repository, folder } = await createRepository(t, api);
  const vm = await withSmallDisks(controlled, ["system", "[NOBAK] swap"]);
  const { url, next } = await startReceiver(t);
  const job = {
    type: "backup",
    name: "nightly",
    vms: [vm.id],
    repositories: [repository],
    retention: { keepLast: 7 },
    report: { when: "always", webHooks: [url] },
  };
  const id = String(await api.request("job.create", { job }));

  await t.test("one that succeeds, with what was skipped", async (t) => {
    await runJob(api, id);
    t.match(await next(), {
      event: "job-run",
      status: "success",
      job: { id, name: "nightly" },
      log: {
        succeeded: 1,
        vms: [
          {
            status: "success",
            repositories: [{ mode: "full", disks: [{ source: "nbd" }] }],
            skippedDisks: [{ reason: "its name contains [NOBAK]" }],
          },
        ],
      },
    });
  });

  await t.test("one with other settings", async (t) => {
    const settings = { "": { fullInterval: 1 } };
    await api.request("backupNg.runJob", { id, schedule: "", settings });
    t.match(await next(), {
      log: { vms: [{ repositories: [{ mode: "full" }] }] },
    });
    const { fullInterval } = (await api.request("job.get", { id })) as {
      fullInterval?: number;
    };
    t.equal(fullInterval, undefined, "the job keeps its own");
    await runJob(api, id);
    const usual = {
      log: { vms: [{ repositories: [{ mode: "incremental" }] }] },
    };
    t.match(await next(), usual);
    await t.rejects(
      api.request("backupNg.runJob", {
        id,
        schedule: "",
        settings: { "": { concurrency: "many" } },
      }),
      /must be integer/,
    );
  });

  await t.test("only failures", async (t) => {
    const settings = { "": { reportWhen: "failure" } };
    await api.request("backupNg.editJob", { id, settings });
    await runJob(api, id);
    t.equal((await lastRun(api, id)).status, "success");
    await rename(folder, `${folder}-elsewhere`);
    await runJob(api, id);
    t.match(await next(), {
      status: "failure",
      log: { vms: [{ status: "failure", error: { code: "SOME_FAILED" } }] },
    });
  });

  await t.test("the settings of Xen Orchestra's clients", async (t) => {
    const settings = {
      "": { reportWhen: "always", reportRecipients: ["admin@example.org"] },
    };
    await api.request("backupNg.editJob", { id, settings });
    t.match(await api.request("backupNg.getJob", { id }), { settings });
    t.match(await api.request("job.get", { id }), {
      report: {
        when: "always",
        addresses: ["admin@example.org"],
        webHooks: [url],
      },
    });
  });
});
