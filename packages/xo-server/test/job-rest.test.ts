import t from "tap";
import { ADMIN_PASSWORD, startTestServer } from "./test-server.js";

const CALL = {
  type: "call",
  key: "genericTask",
  name: "a job",
  method: "group.create",
  paramsVector: {
    type: "crossProduct",
    items: [{ type: "set", values: [{ name: "g" }] }],
  },
};

t.test("jobs are a part of the REST API", async (t) => {
  const server = await startTestServer(t);
  const authorization = `Basic ${btoa(`admin:${ADMIN_PASSWORD}`)}`;
  const rest = (method: string, path: string, body?: object) =>
    server.get(`/rest/v0${path}`, {
      method,
      headers: { authorization, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const created = await rest("POST", "/jobs", { job: CALL });
  t.equal(created.status, 201);
  const { id } = (await created.json()) as { id: string };
  t.match(created.headers.get("location"), `/rest/v0/jobs/${id}`);
  t.equal(
    (await rest("PATCH", `/jobs/${id}`, { job: { name: "new" } })).status,
    204,
  );
  t.match(await (await rest("GET", `/jobs/${id}`)).json(), {
    name: "new",
    method: "group.create",
  });
  const schedule = await rest("POST", "/schedules", {
    jobId: id,
    cron: "@daily",
  });
  t.equal(schedule.status, 201);
  const { id: scheduleId } = (await schedule.json()) as { id: string };
  t.equal(
    (await rest("PATCH", `/schedules/${scheduleId}`, { enabled: false }))
      .status,
    204,
  );
  t.equal(
    (await rest("POST", `/schedules/${scheduleId}/actions/run?sync=true`))
      .status,
    204,
  );
  const begun = await rest("POST", `/jobs/${id}/actions/run`);
  t.equal(begun.status, 202);
  const { taskId } = (await begun.json()) as { taskId: string };
  const task = await (await rest("GET", `/tasks/${taskId}?wait=true`)).json();
  t.match(task, {
    status: "failure",
    result: {
      code: "SOME_FAILED",
      message: /^job new: 1 of 1 failed: group\.create: /,
      data: { run: String, jobName: "new", jobType: "call" },
    },
    tasks: [{ properties: { name: "group.create" } }],
  });
  const runs = (await (
    await rest("GET", "/job-runs?fields=status,taskId,scheduleId")
  ).json()) as object[];
  t.match(runs, [
    { status: "failure", taskId },
    { status: "success", scheduleId },
  ]);
  t.equal((await rest("DELETE", `/schedules/${scheduleId}`)).status, 204);
  t.equal((await rest("DELETE", `/jobs/${id}`)).status, 204);
  t.equal((await rest("GET", `/jobs/${id}`)).status, 404);
});
