import { createHmac } from "node:crypto";
import t from "tap";
import { startAlarmBench, until } from "./alarm-bench.js";
import { startHookSink } from "./hook-sink.js";
import { startMailBox } from "./mail-box.js";

// The runner reads the limit of a file, in ms, from a comment.
t.comment("timeout=120000");

const halted = (id: string) => ({
  id,
  type: "VM",
  name_label: id,
  power_state: "Halted",
});
const HALTED = { kind: "object", type: "VM", filter: "power_state:Halted" };

t.test("a webhook gets JSON, its headers, and a signature", async (t) => {
  const sink = await startHookSink(t);
  const bench = await startAlarmBench(t);
  const secretHeaders = { "x-key": "hush-header" };
  const id = await bench.create({
    on: HALTED,
    targets: [
      { kind: "web-hook", url: sink.url, secretHeaders, secret: "hush-key" },
    ],
  });
  bench.objects.put(halted("a"));
  await bench.pass(500);
  await until(() => sink.posted.length === 1);
  const { headers, text, path } = sink.posted[0]!;
  t.equal(path, "/hook");
  t.match(headers, {
    "x-key": "hush-header",
    "content-type": "application/json",
  });
  const signed = `${String(headers["x-xo-timestamp"])}.${text}`;
  const hmac = createHmac("sha256", "hush-key").update(signed).digest("hex");
  t.equal(headers["x-xo-signature"], `sha256=${hmac}`);
  t.match(JSON.parse(text), {
    event: "raised",
    total: 1,
    rule: { id, severity: "warning" },
    alarms: [{ name: "a", type: "VM", objectId: "a", since: String }],
  });

  const rules = await bench.request("GET", "/alarm-rules?fields=*");
  t.notMatch(JSON.stringify(rules.value), /hush/);
  t.match(rules.value, [
    { targets: [{ headerNames: ["x-key"], isSigned: true, url: sink.url }] },
  ]);
});

t.test(
  "secrets stay with their address, and are not sent to another",
  async (t) => {
    const sink = await startHookSink(t);
    const bench = await startAlarmBench(t);
    const id = await bench.create({
      on: HALTED,
      targets: [
        { kind: "web-hook", url: sink.url, secretHeaders: { "x-key": "k" } },
      ],
    });
    const rule = async () =>
      (await bench.request("GET", `/alarm-rules/${id}`)).value as {
        targets: { id: string }[];
      };
    const target = (await rule()).targets[0]!.id;
    const set = async (url: string) => {
      const targets = [{ id: target, kind: "web-hook", url }];
      t.equal(
        (await bench.request("PATCH", `/alarm-rules/${id}`, { targets }))
          .status,
        204,
      );
      const tested = await bench.request(
        "POST",
        `/alarm-rules/${id}/actions/test`,
      );
      t.same(tested.value, [{ targetId: target, target: url, sent: true }]);
      return sink.posted.at(-1)!.headers["x-key"];
    };
    t.equal(await set(sink.url), "k");
    t.equal(await set(`${sink.url}/elsewhere`), undefined);
    t.equal(await set(sink.url), undefined, "it is removed");
  },
);

t.test("a redirect is not followed", async (t) => {
  const other = await startHookSink(t);
  const sink = await startHookSink(t);
  sink.status = 302;
  sink.headers = { location: other.url };
  const bench = await startAlarmBench(t);
  const id = await bench.create({
    on: HALTED,
    targets: [{ kind: "web-hook", url: sink.url }],
  });
  const tested = await bench.request("POST", `/alarm-rules/${id}/actions/test`);
  t.match(tested.value, [{ error: /HTTP status 302/ }]);
  t.same(other.posted, []);
});

t.test(
  "undelivered notifications are retried, also after a restart",
  async (t) => {
    const sink = await startHookSink(t);
    sink.status = 500;
    const bench = await startAlarmBench(t);
    const id = await bench.create({
      on: HALTED,
      targets: [{ kind: "web-hook", url: sink.url }],
    });
    bench.objects.put(halted("a"));
    await bench.pass(500);
    const failing = async (server = bench) => {
      const { value } = await server.request("GET", `/alarm-rules/${id}`);
      return (value as { undelivered: { attempts: number }[] }).undelivered;
    };
    await until(async () => (await failing()).length === 1);
    t.match(await failing(), [
      { attempts: 1, error: /HTTP status 500/, nextAt: Number },
    ]);
    await bench.pass(9_000);
    t.equal(sink.posted.length, 1);
    await bench.stop();
    const again = await startAlarmBench(t, bench);
    await again.pass(1_000);
    await until(() => sink.posted.length === 2);
    const bodies = sink.posted.map(
      ({ text }) => JSON.parse(text) as { id: string },
    );
    t.equal(bodies[0]!.id, bodies[1]!.id, "a receiver can distinguish them");
    sink.status = 204;
    await until(async () => (await failing(again))[0]?.attempts === 2);
    await again.pass(61_000);
    await until(() => sink.posted.length === 3);
    await until(async () => (await failing(again)).length === 0);
  },
);

t.test("after hours a retry ends, and that is shown", async (t) => {
  const bench = await startAlarmBench(t, { yaml: "host: 127.0.0.1\nport: 1" });
  const id = await bench.create({
    on: HALTED,
    targets: [{ kind: "e-mail", addresses: ["a@example.org"] }],
  });
  bench.objects.put(halted("a"));
  await bench.pass(500);
  const failing = async () => {
    const { value } = await bench.request("GET", `/alarm-rules/${id}`);
    return (value as { undelivered: { attempts: number; nextAt?: number }[] })
      .undelivered[0];
  };
  await until(async () => {
    await bench.pass(600_000);
    return bench.lines.length === 6;
  });
  await bench.pass(100_000_000);
  t.match(await failing(), {
    attempts: 6,
    nextAt: undefined,
    error: /ECONNREFUSED|ESOCKET/,
  });
  t.equal(bench.lines.length, 6);
});

t.test(
  "letters: the mail server's login, its refusal, and odd names",
  async (t) => {
    const login = { username: "xo", password: "right" };
    const box = await startMailBox(t, login);
    const mail = (password: string) =>
      `host: 127.0.0.1\nport: ${box.port}\nsecurity: none\nusername: xo\npassword: ${password}`;
    const bench = await startAlarmBench(t, { yaml: mail("right") });
    const targets = [
      { kind: "e-mail", addresses: ["a@example.org", "b@example.org"] },
    ];
    const id = await bench.create({
      name: "odd\r\nBcc: x@example.org",
      on: HALTED,
      targets,
    });
    const test = async () =>
      (await bench.request("POST", `/alarm-rules/${id}/actions/test`)).value;
    t.match(await test(), [{ error: undefined }]);
    t.same(box.recipients, [["a@example.org", "b@example.org"]]);
    const [head] = box.letters[0]!.split("\r\n\r\n") as [string];
    t.match(head, /^Auto-Submitted: auto-generated\r$/m);
    t.notMatch(head, /^Bcc:/im);
    box.refuse = "no room";
    t.match(await test(), [{ error: /no room/ }]);
    const other = await startAlarmBench(t, {
      ...bench,
      folder: bench.folder,
      yaml: mail("wrong"),
    });
    const { value } = await other.request(
      "POST",
      `/alarm-rules/${id}/actions/test`,
    );
    t.match(value, [{ error: /EAUTH/ }]);
    t.notMatch(JSON.stringify(value), /wrong/);
  },
);

t.test("without a mail server an error is shown", async (t) => {
  const bench = await startAlarmBench(t);
  const id = await bench.create({
    on: HALTED,
    targets: [{ kind: "e-mail", addresses: ["a@example.org"] }],
  });
  const { value } = await bench.request(
    "POST",
    `/alarm-rules/${id}/actions/test`,
  );
  t.match(value, [{ error: /mail\.host/ }]);
});
