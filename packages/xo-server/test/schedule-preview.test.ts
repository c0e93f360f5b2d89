import t from "tap";
import { startTestServer } from "./test-server.js";

t.test("a cron expression is shown by the times that it means", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const ask = (params: object) => admin.ask("schedule.preview", params);
  const given = { cron: "30 4 * * SUN", timezone: "Asia/Tokyo", count: 3 };
  const times = (await ask(given)) as number[];
  t.equal(times.length, 3);
  for (const time of times) {
    t.ok(time > Date.now());
    t.match(new Date(time).toISOString(), /T19:30:00/);
    t.equal(new Date(time).getUTCDay(), 6);
  }
  t.equal(times[1]! - times[0]!, 7 * 86_400_000);
  t.equal(((await ask({ cron: "@daily" })) as unknown[]).length, 5);
  for (const wrong of [
    { cron: "every day" },
    { cron: "0 0 31 2 *" },
    { cron: "@daily", timezone: "Mars/Olympus" },
  ])
    t.match(await admin.call("schedule.preview", wrong), {
      error: { code: 10 },
    });
});

t.test("users show whether a second factor is required", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  t.match(await admin.ask("user.getAll"), [
    { name: "admin", hasPassword: true, hasTotp: false },
  ]);
});
