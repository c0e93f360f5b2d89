import t from "tap";
import { inElementOrder } from "../src/lists/grid/element-order.js";

const lines = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({ line: first + i }));
const numbers = (list: readonly { readonly line: number }[]) =>
  list.map(({ line }) => line);

t.test("lines are in their order when nothing is scrolled", async (t) => {
  const before = lines(0, 4);
  t.same(numbers(inElementOrder(lines(2, 4), before, false)), [2, 3, 4, 5]);
});

t.test(
  "while the list is scrolled each element keeps its place in the document",
  async (t) => {
    const first = inElementOrder(lines(0, 4), undefined, true);
    t.same(numbers(first), [0, 1, 2, 3]);
    const second = inElementOrder(lines(1, 4), first, true);
    t.same(numbers(second), [4, 1, 2, 3]);
    const third = inElementOrder(lines(10, 4), second, true);
    t.same(numbers(third), [12, 13, 10, 11]);
    t.same(
      third.map(({ line }) => line % 4),
      first.map(({ line }) => line % 4),
    );
  },
);

t.test("after the scrolling they are in their order again", async (t) => {
  const scrolled = inElementOrder(lines(1, 4), lines(0, 4), true);
  t.same(numbers(inElementOrder(lines(1, 4), scrolled, false)), [1, 2, 3, 4]);
});

t.test("another number of lines begins with their order", async (t) => {
  t.same(
    numbers(inElementOrder(lines(1, 5), lines(0, 4), true)),
    [1, 2, 3, 4, 5],
  );
});
