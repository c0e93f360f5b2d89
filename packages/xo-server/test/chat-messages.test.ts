import t from "tap";
import { startAlarmBench, until } from "./alarm-bench.js";
import { startHookSink } from "./hook-sink.js";

// The runner reads the limit of a file, in ms, from a comment.
t.comment("timeout=120000");

const HALTED = { kind: "object", type: "VM", filter: "power_state:Halted" };
const MARKUP = "<!channel> @all [x](y) & *b*";

t.test("each chat service receives a message in its format", async (t) => {
  const sink = await startHookSink(t);
  const bench = await startAlarmBench(t);
  const at = (path: string) => sink.url.replace("/hook", path);
  await bench.create({
    name: "halted",
    on: HALTED,
    severity: "critical",
    targets: [
      { kind: "slack", secretUrl: at("/slack") },
      { kind: "teams", secretUrl: at("/teams?sig=hush") },
      { kind: "mattermost", secretUrl: at("/mattermost") },
      { kind: "ntfy", secretUrl: at("/sub/ops"), secretToken: "hush-token" },
    ],
  });
  bench.objects.put({
    id: "a",
    type: "VM",
    name_label: MARKUP,
    power_state: "Halted",
  });
  await bench.pass(500);
  await until(() => sink.posted.length === 4);
  const posted = (path: string) =>
    sink.posted.find((one) => one.path === path)!;
  const slack = posted("/slack").text;
  t.match(slack, "[critical] halted");
  t.match(slack, "&lt;!channel&gt;");
  t.notMatch(slack, "<!channel>");
  t.match(JSON.parse(slack), { attachments: [{ color: "#c62828" }] });
  t.match(JSON.parse(posted("/teams?sig=hush").text), {
    type: "message",
    attachments: [
      {
        contentType: "application/vnd.microsoft.card.adaptive",
        content: { body: [{ inlines: [{ color: "Attention" }] }] },
      },
    ],
  });
  const mattermost = posted("/mattermost").text;
  t.notMatch(mattermost, "@all", "the name of a VM mentions no channel");
  t.notMatch(mattermost, "[x](y)");
  const ntfy = posted("/sub/");
  t.equal(ntfy.headers["authorization"], "Bearer hush-token");
  t.match(JSON.parse(ntfy.text), { topic: "ops", priority: 5 });

  const { value } = await bench.request("GET", "/alarm-rules?fields=*");
  t.notMatch(JSON.stringify(value), /hush|\/slack/);
  t.match(value, [
    { targets: [{ kind: "slack", host: new URL(sink.url).host }] },
  ]);
});

t.test("an address is kept by id, its token only for its host", async (t) => {
  const sink = await startHookSink(t);
  const bench = await startAlarmBench(t);
  const ntfy = { kind: "ntfy", secretUrl: `${sink.url}/ops` };
  const id = await bench.create({
    on: HALTED,
    targets: [{ ...ntfy, secretToken: "hush" }],
  });
  const read = async () =>
    (
      (await bench.request("GET", `/alarm-rules/${id}`)).value as {
        targets: { id: string; label?: string; hasToken: boolean }[];
      }
    ).targets[0]!;
  const target = await read();
  const set = async (change: object) => {
    const targets = [{ id: target.id, kind: "ntfy", ...change }];
    return bench.request("PATCH", `/alarm-rules/${id}`, { targets });
  };
  await set({ label: "#ops" });
  t.match(await read(), { label: "#ops", hasToken: true });
  await bench.request("POST", `/alarm-rules/${id}/actions/test`);
  t.equal(sink.posted.at(-1)!.headers["authorization"], "Bearer hush");
  await set({ secretUrl: sink.url.replace("127.0.0.1", "localhost") });
  t.match(await read(), { hasToken: false });

  const missing = await set({ id: "other", kind: "slack" });
  t.equal(missing.status, 422);
  t.match(JSON.stringify(missing.value), "secretUrl is required");
  const noTopic = await set({ secretUrl: "https://ntfy.example/hush!" });
  t.match(JSON.stringify(noTopic.value), "topic of ntfy");
  t.notMatch(JSON.stringify(noTopic.value), "hush");
  const hook = { kind: "web-hook", url: "https://hooks.example:99999/" };
  t.match(JSON.stringify((await set(hook)).value), "url is not a valid URL");
});

t.test("a target is tested before the rule is stored", async (t) => {
  const sink = await startHookSink(t);
  const bench = await startAlarmBench(t);
  const rule = { name: "draft", severity: "warning", on: HALTED };
  const test = (target: object, more: object = {}) =>
    bench.request("POST", "/alarm-rules/actions/test-target", {
      ...rule,
      ...more,
      target,
    });
  const sent = await test({ kind: "slack", secretUrl: sink.url });
  t.match(sent.value, { sent: true });
  t.match(sink.posted[0]!.text, "TEST: draft");

  const targets = [{ kind: "slack", secretUrl: sink.url }];
  const id = await bench.create({ on: HALTED, targets });
  const { value } = await bench.request("GET", `/alarm-rules/${id}`);
  const stored = (value as { targets: { id: string }[] }).targets[0]!.id;
  t.match((await test({ id: stored, kind: "slack" }, { id })).value, {
    sent: true,
  });
  sink.status = 403;
  const refused = await test({ kind: "slack", secretUrl: `${sink.url}/hush` });
  t.match(refused.value, { sent: false, error: /HTTP status 403/ });
  t.notMatch(JSON.stringify(refused.value), "hush");
});

t.test("the preview of a rule has a text and JSON per service", async (t) => {
  const bench = await startAlarmBench(t);
  const { value } = await bench.request(
    "POST",
    "/alarm-rules/actions/preview",
    {
      name: "full",
      severity: "info",
      on: {
        kind: "statistic",
        type: "SR",
        metric: "physical_usage",
        of: "size",
        comparison: ">",
        threshold: 0.9,
      },
      event: "ended",
    },
  );
  t.match(value, {
    title: "[info] RESOLVED: full: example",
    tone: "resolved",
    lead: /SR physical_usage of size > 90%/,
    mail: /SR example, value 90%/,
    json: { slack: {}, teams: {}, mattermost: {}, ntfy: {}, "web-hook": {} },
  });
});
