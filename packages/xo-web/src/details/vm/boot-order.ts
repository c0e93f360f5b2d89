/** Boot devices in XAPI's letters: c disk, d CD, n network. */
const bootDevices = ["c", "d", "n"] as const;
type BootDevice = (typeof bootDevices)[number];

export interface BootStep {
  readonly device: BootDevice;
  readonly isOn: boolean;
}

/** All devices: enabled ones in order, then disabled ones. */
export function bootSteps(order: string | undefined): BootStep[] {
  const on = new Set([...(order ?? "")].filter(isDevice));
  const off = bootDevices.filter((device) => !on.has(device));
  return [
    ...Array.from(on, (device) => ({ device, isOn: true })),
    ...off.map((device) => ({ device, isOn: false })),
  ];
}

/** XAPI's string of letters, such as `cdn`. */
export function toOrder(steps: readonly BootStep[]): string {
  return steps
    .filter(({ isOn }) => isOn)
    .map(({ device }) => device)
    .join("");
}

/** The steps with one moved by an offset. */
export function movedStep(
  steps: readonly BootStep[],
  from: number,
  by: -1 | 1,
): BootStep[] {
  const moved = [...steps];
  const [step] = moved.splice(from, 1);
  if (step !== undefined) moved.splice(Math.max(0, from + by), 0, step);
  return moved;
}

function isDevice(letter: string): letter is BootDevice {
  return (bootDevices as readonly string[]).includes(letter);
}
