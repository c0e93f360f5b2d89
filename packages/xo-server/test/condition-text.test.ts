import t from "tap";
import { conditionText } from "../src/alarms/condition-text.js";
import { toMessage } from "../src/alarms/message-text.js";
import { toMailText } from "../src/notifications/message.js";
import type { Condition } from "../src/alarms/alarm-rule.js";

const cpu: Condition = {
  kind: "statistic",
  type: "host",
  metric: "now.cpu",
  comparison: ">",
  threshold: 0.8,
  clearsAt: 0.76,
};

t.test("conditions are written with units", async (t) => {
  const text = (on: object) => conditionText({ on: { ...cpu, ...on } });
  t.equal(text({}), "host now.cpu > 80%, cleared at 76%");
  t.match(
    text({ metric: "physical_usage", of: "size", type: "SR" }),
    "SR physical_usage of size > 80%",
  );
  t.match(text({ metric: "memory.size", threshold: 2 ** 33 }), "> 8 GiB");
  t.match(text({ metric: "now.network", threshold: 2 ** 20 }), "> 1 MiB/s");
  t.match(
    text({ type: "server", metric: "certificate.days", threshold: 14 }),
    "server certificate.days > 14 days",
  );
  t.equal(
    conditionText({ on: { kind: "pool" }, forSeconds: 60 }),
    "pool not connected for 60 s",
  );
  t.equal(conditionText({}), undefined, "of an earlier release");
});

t.test("a mail has condition, pool, value and link", async (t) => {
  const rule = { id: "r", name: "cpu", severity: "warning" } as const;
  const since = "2026-11-22T06:00:00.000Z";
  const about = { type: "host", name: "h1", pool: "lab\r\nBcc: x@y", since };
  const url = "https://xo.example/#/hosts/a";
  const message = toMessage({
    event: "raised",
    time: since,
    rule: { ...rule, on: cpu, forSeconds: 60 },
    alarms: [{ ...about, id: "a", url, value: 0.8253 }],
    total: 1,
  });
  t.equal(message.title, "[warning] cpu: h1");
  t.equal(
    toMailText(message),
    [
      "[warning] cpu: h1",
      "",
      "Condition: host now.cpu > 80% for 60 s, cleared at 76%",
      "",
      `host h1, pool lab Bcc: x@y, value 82.53%, since ${since}`,
      `  ${url}`,
      "",
      since,
      "",
    ].join("\n"),
  );
});
