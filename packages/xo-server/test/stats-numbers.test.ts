import t from "tap";
import { shortest } from "../src/stats/shortest.js";

/** Numbers that are the same in each run. @see https://en.wikipedia.org/wiki/Xorshift */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

t.test("numbers are written as short as they were measured", async (t) => {
  for (const value of [0.1, 25.3, 0.07, 1234.567, 1e-9, 8388607.5, -0.25, 3])
    t.equal(shortest(Math.fround(value)), value);
  for (const value of [2 ** 40, NaN, Infinity, 0, Math.fround(1e-40)])
    t.same(shortest(value), value);
});

t.test("no value that Float32 holds is lost", async (t) => {
  const seed = 20_261_121;
  t.comment(`seed ${seed}`);
  const random = createRandom(seed);
  let wrong = 0;
  let longest = 0;
  for (let i = 0; i < 20_000; i++) {
    const exponent = Math.floor(random() * 20 - 10);
    const value = Math.fround((random() - 0.5) * 10 ** exponent);
    const short = shortest(value);
    if (Math.fround(short) !== value) wrong++;
    const digits = String(short).replace(/e.*|[-.]/g, "");
    longest = Math.max(longest, digits.replace(/^0+/, "").length);
  }
  t.equal(wrong, 0);
  t.ok(longest <= 10, `${longest} digits`);
});
