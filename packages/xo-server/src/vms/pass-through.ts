/**
 * A PCI device in the VM's other_config: its position on the guest's bus, and its
 * address on the host.
 */
interface Attached {
  readonly address: string;
}

/** Adds PCI devices to the text: `0/0000:04:00.0,1/0000:05:00.0`. */
export function withPcis(
  text: string | undefined,
  addresses: readonly string[],
): string {
  const before = readPcis(text).map(({ address }) => address);
  return writePcis([...new Set([...before, ...addresses])]);
}

/** Removes PCI devices from the text; empty if none is left. */
export function withoutPcis(
  text: string | undefined,
  addresses: readonly string[],
): string {
  const before = readPcis(text).map(({ address }) => address);
  return writePcis(before.filter((one) => !addresses.includes(one)));
}

function readPcis(text = ""): Attached[] {
  return text
    .split(",")
    .map((one) => ({ address: one.slice(one.indexOf("/") + 1).trim() }))
    .filter(({ address }) => address !== "");
}

function writePcis(addresses: readonly string[]): string {
  return addresses.map((address, i) => `${i}/${address}`).join(",");
}
