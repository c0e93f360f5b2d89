import t from "tap";
import { axisWidth, plotOptions } from "../src/charts/plot-options.js";

const settings = (isBinary: boolean, isWhole = false) => ({
  lines: [],
  colours: new Map<string, string>(),
  width: 600,
  height: 190,
  syncKey: "a",
  floor: 1,
  span: () => ({ from: 0, to: 1 }),
  isBinary,
  isWhole,
  inUnit: String,
  timeLabel: String,
  onCursor: () => undefined,
  onZoom: () => undefined,
  onBack: () => undefined,
});

t.test("an axis of bytes has marks at powers of two", async (t) => {
  const [, axis] = plotOptions(settings(true)).axes!;
  const marks = axis!.incrs as readonly number[];
  t.ok(marks.includes(2 ** 30) && marks.includes(2 ** 31));
  t.notOk(marks.some((mark) => !Number.isInteger(Math.log2(mark))));
  t.equal(plotOptions(settings(false)).axes![1]!.incrs, undefined);
});

t.test("an axis of percentages has marks at whole numbers", async (t) => {
  const [, axis] = plotOptions(settings(false, true)).axes!;
  const marks = axis!.incrs as readonly number[];
  t.ok(marks.length > 0 && marks.every((mark) => Number.isInteger(mark)));
});

t.test("an axis is as wide as its longest label", async (t) => {
  t.equal(axisWidth(null), axisWidth(["1"]), "the least width");
  t.ok(axisWidth(["5,000,000/s"]) >= 11 * 7);
  t.ok(axisWidth(["5,000,000,000/s"]) > axisWidth(["5,000,000/s"]));
});
