import t from "tap";
import { SignInQueue } from "../src/auth/sign-in/sign-in-queue.js";

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A queue whose attempts end when the test ends them. */
function setUp() {
  const queue = new SignInQueue();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const attempt = (
    name: string,
    key: string,
    { isKnown = false, gone }: { isKnown?: boolean; gone?: AbortSignal } = {},
  ) =>
    queue.run(
      { key, isKnown },
      () =>
        new Promise<string>((resolve) => {
          begun.push(name);
          ends.set(name, () => resolve(name));
        }),
      gone,
    );
  const end = async (name: string) => {
    ends.get(name)!();
    await turn();
  };
  return { begun, attempt, end };
}

t.test("attempts of one address are verified one by one", async (t) => {
  const { begun, attempt, end } = setUp();
  const all = ["a1", "a2"].map((name) => attempt(name, "a"));
  void attempt("b1", "b");
  await turn();
  t.same(begun, ["a1", "b1"]);
  await end("a1");
  t.same(begun, ["a1", "b1", "a2"]);
  await end("a2");
  t.same(await Promise.all(all), ["a1", "a2"]);
});

t.test("addresses are served in turn", async (t) => {
  const { begun, attempt, end } = setUp();
  for (let i = 0; i < 8; i++) void attempt(`busy${i}`, `address ${i}`);
  for (let i = 0; i < 50; i++) void attempt(`flood${i}`, "flood");
  void attempt("other", "other");
  await end("busy0");
  await end("busy1");
  t.same(begun.slice(8), ["flood0", "other"]);
});

t.test(
  "a client that has signed in from there before does not wait",
  async (t) => {
    const { begun, attempt } = setUp();
    for (let i = 0; i < 30; i++) void attempt(`user${i}`, `address ${i}`);
    void attempt("owner", "ada at home", { isKnown: true });
    await turn();
    t.equal(begun.at(-1), "owner");
    t.equal(begun.length, 9);
  },
);

t.test("an abandoned attempt leaves the queue", async (t) => {
  const { begun, attempt, end } = setUp();
  void attempt("first", "a");
  const gone = new AbortController();
  const left = attempt("left", "a", { gone: gone.signal });
  void attempt("next", "a");
  gone.abort();
  await t.rejects(left, { code: "ABORTED" });
  await end("first");
  t.same(begun, ["first", "next"]);
  await t.rejects(attempt("late", "b", { gone: gone.signal }), {
    code: "ABORTED",
  });
});

t.test("the share of an address is bounded", async (t) => {
  const { begun, attempt } = setUp();
  const refused: unknown[] = [];
  for (let i = 0; i < 150; i++)
    attempt(`a${i}`, "a").catch((error: unknown) => refused.push(error));
  await turn();
  t.equal(refused.length, 49);
  t.match(refused[0], { code: "TOO_MANY_REQUESTS" });
  void attempt("b", "b");
  t.same(begun, ["a0", "b"]);
});
