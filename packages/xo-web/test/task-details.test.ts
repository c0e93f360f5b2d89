import type { Json } from "@xo-server/kit";
import t from "tap";
import {
  TaskDetailsReader,
  type TaskDetails,
} from "../src/tasks/task-details.js";
import { toTaskItem } from "../src/tasks/task.js";
import { settled } from "./fake-server.js";

const reported = (id: string, more: object = {}): Json => ({
  id,
  status: "pending",
  properties: { name: "bulk" },
  ...more,
});
const summary = (id: string) =>
  toTaskItem(reported(id, { omitted: { tasks: 2, infos: 1, warnings: 0 } }))!;

function startReader() {
  const asked: string[] = [];
  const timers: (() => void)[] = [];
  let details: TaskDetails | undefined;
  let answer: () => Promise<Json> = () =>
    Promise.resolve(
      reported("a", {
        tasks: [reported("a.1"), reported("a.2")],
        infos: [{ message: "note" }],
      }),
    );
  const reader = new TaskDetailsReader({
    get(id) {
      asked.push(id);
      return answer();
    },
    onChange: (changed) => (details = changed),
    setTimeout: (run) => timers.push(run),
    clearTimeout: () => timers.splice(0),
  });
  return {
    reader,
    asked,
    shown: () => details,
    answerWith: (next: () => Promise<Json>) => (answer = next),
    passSecond: () => {
      for (const run of timers.splice(0)) run();
    },
  };
}

t.test(
  "an open row reads the details, again at most once a second",
  async (t) => {
    const { reader, asked, shown, passSecond } = startReader();
    reader.show(undefined);
    t.same(asked, [], "a closed row reads nothing");
    reader.show(summary("a"));
    t.match(shown(), { parts: [], isLoading: true });
    await settled();
    t.match(shown(), { notes: ["note"], isLoading: false });
    t.same(
      shown()?.parts.map(({ id }) => id),
      ["a.1", "a.2"],
    );
    for (let change = 0; change < 5; change++) reader.show(summary("a"));
    t.same(asked, ["a"]);
    passSecond();
    t.same(asked, ["a", "a"], "what changed meanwhile is read once");
    await settled();
    passSecond();
    t.same(asked, ["a", "a"], "without a change nothing is read");
    reader.show(undefined);
    t.match(shown(), { parts: [], notes: [] });
  },
);

t.test("details that were sent with the task are not requested", async (t) => {
  const { reader, asked, shown } = startReader();
  const tasks = [reported("p.1.1")];
  reader.show(toTaskItem(reported("p.1", { tasks })));
  t.same(asked, []);
  t.equal(shown()?.parts.length, 1);
});

t.test(
  "a failed request keeps what is shown; a late answer is ignored",
  async (t) => {
    const { reader, shown, answerWith, passSecond } = startReader();
    reader.show(summary("a"));
    await settled();
    answerWith(() => Promise.reject(new Error("no such task")));
    passSecond();
    reader.show(summary("a"));
    await settled();
    t.match(shown(), { error: "no such task", notes: ["note"] });
    let answer: (task: Json) => void = () => undefined;
    answerWith(() => new Promise((resolve) => (answer = resolve)));
    reader.show(summary("b"));
    reader.show(undefined);
    answer(reported("b", { infos: [{ message: "late" }] }));
    await settled();
    t.match(shown(), { notes: [], error: undefined });
  },
);
