import t from "tap";
import {
  LatestAnswer,
  type LatestView,
} from "../src/placement/failures/latest-answer.js";
import { FakeClock } from "./fake-clock.js";

interface Asked {
  readonly question: string;
  readonly answer: (answer: string) => void;
  readonly fail: (failure: Error) => void;
}

/** Answers come when the test says so. */
function start() {
  const clock = new FakeClock();
  const asked: Asked[] = [];
  const views: LatestView<string, string>[] = [];
  const latest = new LatestAnswer<string, string>({
    request: (question) =>
      new Promise((resolve, reject) => {
        asked.push({ question, answer: resolve, fail: reject });
      }),
    onView: (view) => views.push(view),
    clock,
    debounceMs: 100,
  });
  const settled = () => new Promise(setImmediate);
  return { clock, asked, latest, settled, view: () => views.at(-1)! };
}

t.test("during quick clicks no request is sent", async (t) => {
  const { clock, asked, latest } = start();
  latest.want("a");
  clock.pass(60);
  latest.want("b");
  clock.pass(60);
  t.equal(asked.length, 0);
  clock.pass(40);
  t.same(
    asked.map(({ question }) => question),
    ["b"],
  );
});

t.test(
  "the last values stay, marked as outdated, until the next ones arrive",
  async (t) => {
    const { clock, asked, latest, settled, view } = start();
    latest.want("a");
    clock.pass(100);
    t.equal(view().isStale, false, "there is nothing that could be old");
    asked[0]!.answer("A");
    await settled();
    t.match(view(), { answer: "A", question: "a", isStale: false });
    latest.want("b");
    t.match(view(), { answer: "A", question: "a", isStale: true });
    clock.pass(100);
    asked[1]!.answer("B");
    await settled();
    t.match(view(), { answer: "B", question: "b", isStale: false });
  },
);

t.test("one request runs at a time, and the last one wins", async (t) => {
  const { clock, asked, latest, settled, view } = start();
  for (const question of ["a", "b", "c"]) {
    latest.want(question);
    clock.pass(200);
  }
  t.equal(asked.length, 1, "the others wait");
  asked[0]!.answer("A");
  await settled();
  t.match(view(), { answer: "A", isStale: true });
  clock.pass(0);
  t.same(
    asked.map(({ question }) => question),
    ["a", "c"],
  );
  asked[1]!.answer("C");
  await settled();
  t.match(view(), { answer: "C", question: "c", isStale: false });
});

t.test(
  "after a failure the reported values remain, until the next response",
  async (t) => {
    const { clock, asked, latest, settled, view } = start();
    latest.want("a");
    clock.pass(100);
    asked[0]!.answer("A");
    await settled();
    latest.want("b");
    clock.pass(100);
    asked[1]!.fail(new Error("gone"));
    await settled();
    t.match(view(), {
      answer: "A",
      isStale: true,
      failure: { message: "gone" },
    });
    latest.again();
    clock.pass(0);
    asked[2]!.answer("B");
    await settled();
    t.match(view(), { answer: "B", isStale: false, failure: undefined });
  },
);

t.test("an unsubscribed client gets no notifications", async (t) => {
  const { clock, asked, latest, settled, view } = start();
  latest.want("a");
  clock.pass(100);
  latest.want(undefined);
  asked[0]!.answer("A");
  await settled();
  clock.pass(1000);
  t.equal(view().answer, undefined);
  latest.want("b");
  latest.close();
  clock.pass(1000);
  t.equal(asked.length, 1);
});
