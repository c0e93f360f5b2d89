/** Differences (the first one: XO_TEST_CLOCK_AHEAD_MS) of the dates from those of the system, in ms; the next one at each SIGUSR2. */
const DAY_MS = 86_400_000;
const STEP_MS = Number(process.env["XO_TEST_CLOCK_STEP_MS"] ?? 30 * DAY_MS);
const OFFSETS = [STEP_MS, -STEP_MS, 0];

const SystemDate = Date;
let offset = Number(process.env["XO_TEST_CLOCK_AHEAD_MS"] ?? 0);
let next = 0;

class ShiftedDate extends SystemDate {
  constructor(...parts: []) {
    if (parts.length === 0) super(ShiftedDate.now());
    else super(...parts);
  }

  static override now(): number {
    return SystemDate.now() + offset;
  }
}

globalThis.Date = ShiftedDate as unknown as DateConstructor;
process.on("SIGUSR2", () => {
  offset = OFFSETS[next++ % OFFSETS.length]!;
  process.stdout.write(`clock shifted by ${offset / DAY_MS} days\n`);
});
