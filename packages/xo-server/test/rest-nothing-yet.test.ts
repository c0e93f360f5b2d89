import t from "tap";
import { ADMIN_PASSWORD, startTestServer } from "./test-server.js";

const folders = [
  "schedules",
  "proxies",
  "backup-jobs",
  "backup-logs",
  "backup-repositories",
  "backup-archives",
  "restore-logs",
  "backup/jobs/vm",
  "backup/jobs/metadata",
  "backup/jobs/mirror",
  "backup/logs",
  "restore/logs",
];

t.test("an absent collection is an empty list", async (t) => {
  const { get, connect } = await startTestServer(t);
  const authorization = `Basic ${btoa(`admin:${ADMIN_PASSWORD}`)}`;
  const request = (path: string) =>
    get(`/rest/v0/${path}`, {
      headers: { authorization },
      redirect: "manual",
    });
  for (const folder of folders) {
    const answer = await request(`${folder}?fields=*&limit=5`);
    t.equal(answer.status, 200, folder);
    t.same(await answer.json(), []);
    t.equal((await request(`${folder}/none`)).status, 404);
    t.equal((await get(`/rest/v0/${folder}`)).status, 401);
    t.equal((await request(`${folder}?ndjson=true`)).status, 200);
    t.match(
      await (await request(`${folder}?markdown=true`)).text(),
      /No results/,
    );
  }
  const admin = await (await connect()).signIn();
  for (const method of ["job", "schedule", "remote", "proxy"])
    t.same(await admin.request(`${method}.getAll`), []);
  t.same(await admin.request("backupNg.getAllJobs"), []);
  t.same(await admin.request("backupNg.getAllLogs", { ndjson: false }), {});
  t.match(await admin.call("job.get", { id: "none" }), { error: { code: 1 } });
});
