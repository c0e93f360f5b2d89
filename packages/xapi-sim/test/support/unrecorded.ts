import { toDatetime } from "../../src/clock.js";
import type { Replay } from "./replay.js";
import type { Recording } from "./recordings.js";

const VM = "OpaqueRef:1bc49746-43d8-5494-1c75-f82acc131cb3";
const MY_TASK = "OpaqueRef:8adbb401-3eb8-7cb6-3e5a-9925968f30ca";
const MY_OTHER_TASK = "OpaqueRef:1725cd21-0c42-b5c0-900d-86b73fbb3158";
const OTHER_VM = "OpaqueRef:f825";

/**
 * What the recorder did between two recorded exchanges, by name of the one that
 * follows: changes that an event.from was to report, objects made beforehand.
 */
export function unrecorded(replay: Replay, { group, name }: Recording): void {
  const scenario = name.replace(/-(xml|json[12])$/, "");
  const run =
    /^next-(xml|json)/.test(name) && group === "event"
      ? describeLater(name.replace("-", " "))
      : scenarios[`${group}-${scenario}`];
  run?.({ replay, db: replay.pool.database });
}

type Scenario = (tools: {
  readonly replay: Replay;
  readonly db: Replay["pool"]["database"];
}) => void;

function makeNetwork(
  { db }: { db: Replay["pool"]["database"] },
  name: string,
): string {
  return db.create("network", {
    name_label: name,
    bridge: "xapi0",
    MTU: 1500,
    managed: true,
    default_locking_mode: "unlocked",
  });
}

function describe(text: string): Scenario {
  return ({ db }) => db.update("VM", VM, { name_description: text });
}

/** The same in the middle of the exchange. */
function describeLater(text: string): Scenario {
  return (tools) => void setTimeout(() => describe(text)(tools), 20);
}

const message: Scenario = ({ db }) => {
  if (db.count("message") > 0) return;
  db.create("message", {
    name: "LAB_MESSAGE",
    priority: 3,
    cls: "VM",
    obj_uuid: db.get("VM", VM)["uuid"]!,
    timestamp: "20261121T03:59:28Z",
    body: "body <b>&</b>",
  });
};

const scenarios: Readonly<Record<string, Scenario>> = {
  "map-add-existing": ({ db }) =>
    db.update("VM", VM, { other_config: { k: "v" } }),
  "string-map-key-markup": ({ db }) => {
    for (const ref of db.refs("VM"))
      db.update("VM", ref, { other_config: { 'a<b>&"c': "v" } });
  },
  "event-mod": describe("one change"),
  "event-mod-coalesced": (tools) => {
    for (let i = 0; i < 10; i++) describe(`change ${i}`)(tools);
  },
  "event-add": (tools) => void makeNetwork(tools, "n1"),
  "event-add-then-mod": (tools) => {
    const ref = makeNetwork(tools, "n");
    tools.db.update("network", ref, { name_label: "n3" });
  },
  "event-add-then-del": (tools) =>
    tools.db.destroy("network", makeNetwork(tools, "n2")),
  "event-set-same-value": ({ db }) =>
    db.update("VM", VM, {
      name_description: db.get("VM", VM)["name_description"]!,
    }),
  "event-other-object": ({ db }) => {
    const other = [...db.refs("VM")].find((ref) => ref.startsWith(OTHER_VM))!;
    db.update("VM", other, { name_description: `other ${db.generation}` });
  },
  "event-wakeup": describeLater("woken"),
  "event-message-add": message,
  "event-message-del": (tools) => {
    const { db } = tools;
    message(tools);
    for (const ref of [...db.refs("message")]) db.destroy("message", ref);
  },
  "event-from-after-inject": describe("conc"),
  "task-record-pending": ({ replay, db }) => {
    const ref = db.create("task", {
      name_label: "mine",
      // Not as recorded: a pending task is deleted after a day.
      created: toDatetime(Date.now()),
      status: "pending",
      resident_on: [...db.records("pool")][0]![1]["master"]!,
      type: "<none/>",
      backtrace: "()",
    });
    replay.alias(MY_TASK, ref);
  },
  "task-cancel-pending": (tools) => {
    scenarios["task-record-pending"]!(tools);
    tools.replay.alias(MY_OTHER_TASK, tools.replay.translate(MY_TASK));
  },
};
