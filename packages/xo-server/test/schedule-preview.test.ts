import t from "tap";
import { startTestServer } from "./test-server.js";

t.test("a cron expression is shown by the times that it means", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const request = (params: object) => admin.request("schedule.preview", params);
  const input = { cron: "30 4 * * SUN", timezone: "Asia/Tokyo", count: 3 };
  const times = (await request(input)) as number[];
  t.equal(times.length, 3);
  for (const time of times) {
    t.ok(time > Date.now());
    t.match(new Date(time).toISOString(), /T19:30:00/);
    t.equal(new Date(time).getUTCDay(), 6);
  }
  t.equal(times[1]! - times[0]!, 7 * 86_400_000);
  t.equal(((await request({ cron: "@daily" })) as unknown[]).length, 5);
  // The clocks of Paris skip 02:30 on that day.
  const spring = {
    cron: "30 2 * * *",
    timezone: "Europe/Paris",
    from: Date.parse("2027-03-27T12:00:00Z"),
    count: 2,
  };
  t.same(
    ((await request(spring)) as number[]).map((at) =>
      new Date(at).toISOString(),
    ),
    ["2027-03-28T01:00:00.000Z", "2027-03-29T00:30:00.000Z"],
  );
  for (const wrong of [
    { cron: "@daily", from: -1 },
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
  t.match(await admin.request("user.getAll"), [
    { name: "admin", hasPassword: true, hasTotp: false },
  ]);
});
